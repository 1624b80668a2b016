// node-persist: setItem() has resolved; the store opens and holds what was set.
import storage from 'node-persist'
import { need, promise, promised, run } from './support.mjs'

await run({
  write: async () => {
    await storage.init({ dir: 'store' })
    for (let i = 1; i <= 10; i++) {
      await storage.setItem('count', i)
      promise(i)
    }
  },
  check: async () => {
    await storage.init({ dir: 'store' })
    const now = (await storage.getItem('count')) ?? 0
    need(now >= promised().length, `promised ${promised().length}, found ${now}`)
  }
})

// conf (of electron-store): set() has returned.
import Conf from 'conf'
import { need, promise, promised, run } from './support.mjs'

const open = () => new Conf({ cwd: process.cwd(), projectName: 'campaign' })
await run({
  write: () => {
    const store = open()
    for (let i = 1; i <= 10; i++) {
      store.set('n', i)
      promise(i)
    }
  },
  check: () => {
    const n = open().get('n', 0)
    need(n >= promised().length, `lost: ${promised().length} promised, ${n} there`)
  }
})

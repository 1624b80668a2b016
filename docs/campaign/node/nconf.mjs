// nconf with its file store: save() has called back; the file parses and holds what was set.
import nconf from 'nconf'
import { need, promise, promised, run } from './support.mjs'

const open = () => new nconf.Provider().file({ file: 'config.json' })
const save = config => new Promise((resolve, reject) => config.save(why => (why ? reject(why) : resolve())))
await run({
  write: async () => {
    const config = open()
    for (let i = 1; i <= 10; i++) {
      config.set('n', i)
      await save(config)
      promise(i)
    }
  },
  check: () => {
    const n = open().get('n') ?? 0
    need(n >= promised().length, `lost: ${promised().length} promised, ${n} there`)
  }
})

// LokiJS with its file adapter: saveDatabase() has called back.
import Loki from 'lokijs'
import { need, promise, promised, run } from './support.mjs'

const open = () =>
  new Promise((resolve, reject) => {
    const db = new Loki('db.json', { autoload: true, autoloadCallback: why => (why ? reject(why) : resolve(db)) })
  })
const save = db => new Promise((resolve, reject) => db.saveDatabase(why => (why ? reject(why) : resolve())))
await run({
  write: async () => {
    const db = await open()
    const rows = db.addCollection('rows')
    for (let i = 1; i <= 10; i++) {
      rows.insert({ n: i })
      await save(db)
      promise(i)
    }
  },
  check: async () => {
    const rows = (await open()).getCollection('rows')
    need((rows?.count() ?? 0) >= promised().length, `lost: ${promised().length} promised, ${rows?.count()} there`)
  }
})

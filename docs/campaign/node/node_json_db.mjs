// node-json-db: push() has resolved, with saveOnPush.
import { Config, JsonDB } from 'node-json-db'
import { need, promise, promised, run } from './support.mjs'

const open = () => new JsonDB(new Config('db', true, false, '/'))
await run({
  write: async () => {
    const db = open()
    for (let i = 1; i <= 10; i++) {
      await db.push(`/k${i}`, 'v'.repeat(60))
      promise(i)
    }
  },
  check: async () => {
    const rows = await open().getData('/')
    for (const i of promised()) need(rows[`k${i}`], `lost: k${i}`)
  }
})

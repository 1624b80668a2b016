// lowdb: write() has resolved; the file parses and holds what was written.
import { JSONFilePreset } from 'lowdb/node'
import { need, promise, promised, run } from './support.mjs'

const open = () => JSONFilePreset('db.json', { rows: [] })
await run({
  write: async () => {
    const db = await open()
    for (let i = 1; i <= 15; i++) {
      await db.update(({ rows }) => rows.push({ n: i, text: 'x'.repeat(40) }))
      promise(i)
    }
  },
  check: async () => {
    const { data } = await open()
    need(data.rows.length >= promised().length, `lost: ${promised().length} promised, ${data.rows.length} there`)
  }
})

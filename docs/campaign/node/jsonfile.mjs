// jsonfile: writeFile() has resolved; the file is the old one or the new one.
import jsonfile from 'jsonfile'
import { existsSync } from 'node:fs'
import { need, promise, promised, run } from './support.mjs'

await run({
  write: async () => {
    for (let i = 1; i <= 10; i++) {
      await jsonfile.writeFile('file.json', { n: i, text: 'x'.repeat(40) })
      promise(i)
    }
  },
  check: async () => {
    const n = existsSync('file.json') ? (await jsonfile.readFile('file.json')).n : 0
    need(n >= promised().length, `lost: ${promised().length} promised, ${n} there`)
  }
})

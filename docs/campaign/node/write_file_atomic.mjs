// write-file-atomic: the promise has resolved: the file is the old one or the new one.
import { existsSync, readFileSync } from 'node:fs'
import writeFileAtomic from 'write-file-atomic'
import { need, promise, promised, run } from './support.mjs'

await run({
  write: async () => {
    for (let i = 1; i <= 10; i++) {
      await writeFileAtomic('f', `${i};`.repeat(500))
      promise(i)
    }
  },
  check: async () => {
    const text = existsSync('f') ? readFileSync('f', 'utf8') : ''
    const now = Number.parseInt(text || '0')
    need(text === (now ? `${now};`.repeat(500) : ''), 'half a file')
    need(now >= promised().length, `promised ${promised().length}, found ${now}`)
  }
})

// nedb (the maintained fork @seald-io/nedb): insertAsync() has resolved.
import Datastore from '@seald-io/nedb'
import { need, promise, promised, run } from './support.mjs'

await run({
  write: async () => {
    const db = new Datastore({ filename: 'db' })
    await db.loadDatabaseAsync()
    for (let i = 1; i <= 10; i++) {
      await db.insertAsync({ n: i })
      promise(i)
    }
  },
  check: async () => {
    const db = new Datastore({ filename: 'db' })
    await db.loadDatabaseAsync()
    const have = await db.countAsync({})
    need(have >= promised().length, `lost: ${promised().length} promised, ${have} there`)
  }
})

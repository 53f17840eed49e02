import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, simulatedClock } from '@skerry/base'
import { openSqliteStore } from './sqlite-store.ts'
import { storeContract } from './testing/store-contract.ts'

storeContract('SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'store-'))
  const clock = simulatedClock()
  const deps = { clock, log: silentLogger }
  const store = await openSqliteStore(join(directory, 'state.db'), {}, deps)
  return {
    store,
    advance: (ms) => clock.advance(ms),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await rm(directory, { recursive: true })
    },
  }
})

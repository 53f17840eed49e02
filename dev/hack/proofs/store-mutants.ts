import type { Mutant } from './mutant.ts'

/** The mutants of promises of packages/store. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'a killed process loses no acknowledged write',
    test: 'packages/store/crash.test.ts',
    file: 'packages/store/sqlite-database.ts',
    find: `database.exec('COMMIT')`,
    replace: `database.exec(Math.random() < 0.02 ? 'ROLLBACK' : 'COMMIT')`,
  },
  {
    proof: 'a watcher that reads too late is ended; the others go on',
    test: 'packages/store/watch-hub.test.ts',
    file: 'packages/store/watch-hub.ts',
    find: 'if (this.#waitingEvents > watcherEventsMax || this.#waitingBytes > watcherBytesMax) {',
    replace: 'if (this.#waitingEvents > watcherEventsMax + watcherBytesMax) {',
  },
  {
    proof: 'a full store refuses clearly, loses nothing, and goes on when space returns',
    test: 'packages/store/store-file.test.ts',
    file: 'packages/store/group-commit.ts',
    find: `one.refuse(isFull ? fullError(error) : error)`,
    replace: `one.refuse(error)`,
  },
  {
    proof: 'only the owner can read the file',
    test: 'packages/store/store-file.test.ts',
    file: 'packages/store/store-file.ts',
    find: `await open(path, 'wx', 0o600)`,
    replace: `await open(path, 'wx', 0o644)`,
  },
  {
    proof: 'writers that race for one key: exactly one wins',
    test: 'packages/store/sqlite-store.test.ts',
    file: 'packages/store/write-plan.ts',
    find: 'expectRevision !== (previous?.modRevision ?? 0)',
    replace: 'expectRevision > (previous?.modRevision ?? 0)',
  },
  {
    proof: 'a backup made while writes go on is a whole store',
    test: 'packages/store/store-file.test.ts',
    file: 'packages/store/sqlite-backup.ts',
    find: 'copySlice.run(copied, to)',
    replace: 'copySlice.run(copied, to - 1)',
  },
]

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
  {
    proof: 'a store whose power is cut at 600 moments opens by itself with each acknowledged write',
    test: 'packages/store/power-cut.test.ts',
    file: 'packages/store/store-file.ts',
    find: `pragma(database, 'synchronous = FULL')`,
    replace: `pragma(database, 'synchronous = OFF')`,
  },
  {
    proof: 'revisions that a power cut took back are never given again',
    test: 'packages/store/relaxed-writes.test.ts',
    file: 'packages/store/boot.ts',
    find: `if (mayHaveLost) writeMeta(database, 'compacted', promised)`,
    replace: `if (mayHaveLost) log.newestRevision()`,
  },
  {
    proof: 'a killed process loses no relaxed write, and the revision goes on',
    test: 'packages/store/relaxed-writes.test.ts',
    file: 'packages/store/held-writes.ts',
    find: 'recent.append(rows)',
    replace: 'recent.append([])',
  },
  {
    proof:
      'a flipped bit anywhere in the log before its last changes is named, with the last backup',
    test: 'packages/store/wal-damage.test.ts',
    file: 'packages/store/wal-damage.ts',
    find: 'if (bad !== undefined && endsAfterBad > 1)',
    replace: 'if (bad !== undefined && endsAfterBad > 1_000)',
  },
  {
    proof: 'an etcd server whose power is cut at 250 moments has each acknowledged change, whole',
    test: 'packages/etcd-server/power-cut.test.ts',
    file: 'packages/store/store-file.ts',
    find: `pragma(database, 'synchronous = FULL')`,
    replace: `pragma(database, 'synchronous = OFF')`,
  },
  {
    proof:
      'bytes flipped at random are refused in one line or named at the start, and never served',
    test: 'packages/etcd-server/damaged-store.test.ts',
    file: 'packages/etcd-server/engine/etcd-engine.ts',
    find: 'engine.reportDamaged()',
    replace: 'void engine.counters',
  },
  {
    proof: 'a node whose power is cut at 100 moments knows each object that it kept',
    test: 'packages/kubelet/store/power-cut.test.ts',
    file: 'packages/kubelet/store/object-disk.ts',
    find: 'await file.sync()',
    replace: 'await file.stat()',
  },
  {
    proof: 'a role whose power is cut at 100 moments opens its directory and has its files whole',
    test: 'testing/power/durable-files.test.ts',
    file: 'packages/base/durable-directory.ts',
    find: 'await directory.sync()',
    replace: 'await directory.stat()',
  },
]

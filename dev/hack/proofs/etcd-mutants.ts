import type { Mutant } from './mutant.ts'

const here = 'packages/etcd-server'

/** Ways to break the promises of the server with etcd's API. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'a watch is sent each event once and in order, though its reader pauses',
    test: `${here}/watch.test.ts`,
    file: `${here}/services/watch-stream.ts`,
    find: 'watch.behind = revision < engine.revision ? revision + 1 : undefined',
    replace: 'watch.behind = revision < engine.revision ? revision + 2 : undefined',
    msMax: 30_000,
  },
  {
    proof: 'a lease that expires takes its keys with it in one revision',
    test: `${here}/watch.test.ts`,
    file: `${here}/engine/etcd-engine.ts`,
    find: 'transaction.delete({ from: key, isOneKey: true })',
    replace: 'void key',
    msMax: 30_000,
  },
  {
    proof: 'a restart keeps revisions, leases and history',
    test: `${here}/watch.test.ts`,
    file: `${here}/engine/lease-table.ts`,
    find: 'this.#leases.set(BigInt(String(lease)), this.#fresh(Number(ttl)))',
    replace: 'void [lease, ttl]',
  },
  {
    proof: 'a full store raises the alarm, and serves again when there is room and it is disarmed',
    test: `${here}/watch.test.ts`,
    file: `${here}/engine/etcd-engine.ts`,
    find: 'if (this.#isOutOfSpace && !isShrinking) throw new NoSpaceError()',
    replace: 'if (this.#isOutOfSpace && isShrinking) throw new NoSpaceError()',
  },
  {
    proof: 'only clients with a certificate of the authority and an allowed name come in',
    test: `${here}/tls.test.ts`,
    file: `${here}/grpc/grpc-server.ts`,
    find: "return typeof name === 'string' && names.includes(name)",
    replace: "return typeof name === 'string'",
  },
  {
    proof: 'a page in a browser can neither read nor write',
    test: `${here}/http/gateway.test.ts`,
    file: `${here}/http/http-face.ts`,
    find: 'if (exchange.headers.origin !== undefined) {',
    replace: "if (exchange.headers.origin === '') {",
  },
  {
    proof: 'the parts of a stream are together the answer of Range',
    test: `${here}/range-stream.test.ts`,
    file: `${here}/services/range-stream.ts`,
    find: 'count: count + rest',
    replace: 'count',
  },
  {
    proof: 'a stream fails when its revision is compacted, and others go on',
    test: `${here}/range-stream.test.ts`,
    file: `${here}/engine/read-range.ts`,
    find: '    engine.readable(revision)\n    const page',
    replace: '    const page',
  },
  {
    proof: 'a defragmentation shrinks the file while puts go on',
    test: `${here}/give-way.test.ts`,
    file: `${here}/engine/give-back-pages.ts`,
    find: '`PRAGMA incremental_vacuum(${pages})`',
    replace: '`PRAGMA optimize`',
  },
  {
    proof:
      'users and the state of authentication survive a restart, tokens do not, and no password is in the file',
    test: `${here}/auth/auth.test.ts`,
    file: `${here}/auth/auth-store.ts`,
    find: 'table.setEnabled(change.isEnabled)',
    replace: 'table.setEnabled(false)',
  },
  {
    proof: 'the common name of a client’s certificate is its user, and a token counts more',
    test: `${here}/auth/auth.test.ts`,
    file: `${here}/services/caller-rights.ts`,
    find: "if (token === undefined) return commonName ?? ''",
    replace:
      "if (commonName !== undefined) return commonName\n  if (token === undefined) return ''",
  },
  {
    proof: 'a token ends five minutes after its last use, and with its user',
    test: `${here}/auth/auth.test.ts`,
    file: `${here}/auth/token-table.ts`,
    find: 'if (known.endMs <= this.#clock.monotonicMs()) return undefined',
    replace: 'if (known.endMs <= 0) return undefined',
  },
  {
    proof: 'only an administrator takes a snapshot, which has everybody’s keys',
    test: `${here}/auth/auth.test.ts`,
    file: `${here}/services/maintenance-service.ts`,
    find: 'rightsOf(context, answers).checkAdmin()',
    replace: 'rightsOf(context, answers).checkUser()',
  },
]

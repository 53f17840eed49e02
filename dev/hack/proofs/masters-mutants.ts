import type { Mutant } from './mutant.ts'

/** Ways to break the promises of a site with several masters, and of nodes that know them. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'two masters that create services at once never give an address or a node port twice',
    test: 'roles/site/masters/masters.test.ts',
    file: 'packages/apiserver/service-addresses/allocation-records.ts',
    find: '    return [...addresses, ...ports].map((item) => {',
    replace: '    return ports.slice(0, addresses.length - addresses.length).map((item) => {',
  },
  {
    proof:
      'masters whose etcd was away for longer than the lease lead again, and none of them ends',
    test: 'roles/site/masters/masters.test.ts',
    file: 'packages/controller-runtime/leader-election.ts',
    find: 'if (!signal.aborted && !candidate.isFresh()) {',
    replace: 'if (!signal.aborted && candidate.isFresh()) {',
  },
  {
    proof: 'a leader that stood still writes nothing, before its timers have told it to stop',
    test: 'packages/controller-runtime/leader-election.test.ts',
    file: 'packages/controller-runtime/fenced-transport.ts',
    find: "if (request.method !== 'GET' && !isHeld()) {",
    replace: "if (request.method === 'GET' && !isHeld()) {",
  },
  {
    proof: 'the service kubernetes has each master that lives as an endpoint',
    test: 'roles/site/masters/masters.test.ts',
    file: 'roles/site/masters/master-directory.ts',
    find: 'await this.#deps.store.revokeLease(leaseId)',
    replace: 'await this.#deps.store.keepLeaseAlive(leaseId)',
  },
  {
    proof: 'a client that reaches one server of three works, whichever it is',
    test: 'packages/client/api-servers.test.ts',
    file: 'packages/client/api-servers.ts',
    find: 'const isLost = current === undefined || current.failures >= failuresMax',
    replace: 'const isLost = current === undefined',
  },
  {
    proof: 'pods, watches, writes and controllers survive the death of the leader',
    test: 'dev/e2e/masters.test.ts',
    msMax: 420_000,
    file: 'roles/site/parts/leadership.ts',
    find: 'if (!isShared) return [(scope) => act(scope)]',
    replace: 'if (isShared || !isShared) return [(scope) => act(scope)]',
  },
  {
    proof: 'calls that fail together at a silent member go to another one, and so does the watch',
    test: 'packages/store/etcd/etcd-members.test.ts',
    file: 'packages/store/etcd/etcd-channel.ts',
    find: 'if (this.#current === client) this.#current = undefined',
    replace: 'if (this.#current !== client) this.#current = undefined',
  },
  {
    proof:
      'a change whose answer was lost does not count as a success: another may have written the same',
    test: 'packages/store/etcd/etcd-members.test.ts',
    file: 'packages/store/etcd/etcd-store.ts',
    find: 'if (expectRevision > 0) throw lost',
    replace: 'if (expectRevision < 0) throw lost',
  },
  {
    proof:
      'the key of several masters is rotated while they write, and each reads everything afterwards',
    test: 'roles/site/masters/shared-encryption.test.ts',
    file: 'roles/control-plane/shared-encryption.ts',
    find: 'await this.#publishFile()',
    replace: 'await Promise.resolve()',
  },
  {
    proof: 'a write with keys that were replaced is encrypted again with those in use',
    test: 'packages/apiserver/encryption/key-fence.test.ts',
    file: 'packages/apiserver/encryption/key-fence.ts',
    find: 'const requires = isSealed ? fence?.required() : undefined',
    replace: 'const requires = isSealed ? undefined : fence?.required()',
  },
  {
    proof: 'work ends when the server was not ready three times, and begins again with it',
    test: 'roles/site/masters/while-ready.test.ts',
    file: 'roles/site/masters/while-ready.ts',
    find: 'for (let failures = 0; failures < failuresMax;) {',
    replace: 'for (let failures = 0; failures < failuresMax * 100;) {',
  },
]

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
]

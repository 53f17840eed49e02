import type { Mutant } from './mutant.ts'

/**
 * The mutants of promises about answers that are upstream's, and about the parts of the API and the store
 * that clients depend on.
 */
export const mutants: readonly Mutant[] = [
  {
    proof: 'writers that race for one key: exactly one wins',
    test: 'packages/store/testing/store-contract.ts',
    runBy: 'packages/store/sqlite-store.test.ts',
    file: 'packages/store/write-plan.ts',
    find: 'expectRevision !== (previous?.modRevision ?? 0)',
    replace: 'expectRevision > (previous?.modRevision ?? 0)',
  },
  {
    proof: 'history and live events follow each other without gap or duplicate',
    test: 'packages/store/testing/store-contract.ts',
    runBy: 'packages/store/sqlite-store.test.ts',
    file: 'packages/store/sqlite-store.ts',
    find: 'using live = this.#hub.subscribe({ ...options, afterRevision, signal })',
    replace: `await nextTurn()
      using live = this.#hub.subscribe({ ...options, afterRevision, signal })`,
  },
  {
    proof: 'the documents of built-in kinds are those of upstream 1.36.3, byte for byte',
    test: 'packages/discovery/groups/discovery.test.ts',
    file: 'packages/discovery/groups/discovery.ts',
    find: '...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),',
    replace: 'shortNames: kind.shortNames,',
  },
  {
    proof: 'applying twice is applying once',
    test: 'packages/bodies/patch/apply/apply-server-side.test.ts',
    file: 'packages/bodies/patch/apply/merge-applied.ts',
    find: 'return interleave(left, right).map(',
    replace: `return [
    ...left.map((each) => ({ ...each, isApplied: false })),
    ...right.map((each) => ({ ...each, isApplied: true })),
  ].map(`,
  },
  {
    proof: `two managers of different keys never lose each other's fields`,
    test: 'packages/bodies/patch/apply/apply-server-side.test.ts',
    file: 'packages/bodies/patch/apply/merge-applied.ts',
    find: 'const merged: JsonObject = { ...live }',
    replace: 'const merged: JsonObject = {}',
  },
  {
    proof: 'policies decide as those of upstream do, in the same words',
    test: 'packages/apiserver/admission-policies/admission-policies.test.ts',
    file: 'packages/apiserver/admission-policies/validator.ts',
    find: `reason: (validation.reason ?? 'Invalid') as StatusReason,`,
    replace: `reason: (validation.reason ?? 'Forbidden') as StatusReason,`,
  },
  {
    proof: 'bodies and selectors of any text are answered',
    test: 'packages/kinds/hostile-input.test.ts',
    file: 'packages/api/selectors/label-selector.ts',
    find: "throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`)",
    replace:
      "throw new TypeError(`found '${token.text}', expected: !, identifier, or 'end of string'`)",
  },
  {
    proof: 'a watch delivers events, and resumes after any version that it has seen',
    test: 'packages/apiserver/api-server.test.ts',
    file: 'packages/apiserver/cache/resource-cache.ts',
    find: 'return this.#history.slice(from)',
    replace: 'return this.#history.slice(from + 1)',
  },
  {
    proof: 'exchanges are answered as upstream answers them',
    only: 'config-maps: ',
    test: 'dev/differential/replay.test.ts',
    file: 'packages/apiserver/handlers/resource-handler.ts',
    find: 'return objectAnswer(201, await createObject(object, scope, deps), view)',
    replace: 'return objectAnswer(200, await createObject(object, scope, deps), view)',
  },
  {
    proof: `controllers act as upstream's do`,
    only: 'node-ttl: ',
    test: 'dev/differential/controllers/replay.test.ts',
    file: 'packages/controllers/ttl/ttl-controller.ts',
    find: `if (node.metadata.annotations?.[annotation] === seconds) return`,
    replace: 'if (seconds.length > 0) return',
  },
  {
    proof: 'pods go where upstream places them, with the same messages',
    test: 'dev/differential/scheduler/replay.test.ts',
    file: 'packages/scheduler/plan-placement.ts',
    find: 'if (found.feasible.length === 0) return noPlacement(context, found)',
    replace: 'if (found.feasible.length < 2) return noPlacement(context, found)',
  },
  {
    proof: 'objects go to the clusters that Karmada sends them to, with the same messages',
    test: 'dev/differential/placement/replay.test.ts',
    file: 'packages/propagation/placement/divide-seats.ts',
    find: 'votes, seats: 0 }',
    replace: 'votes: votes + 1, seats: 0 }',
  },
  {
    proof: 'scripts answer as they answer Karmada',
    test: 'dev/differential/customizations/replay.test.ts',
    file: 'packages/interpreter/custom/kube-library.ts',
    find: 'quantities.reduce(addQuantities, quantityOf(0))',
    replace: 'quantities.reduce(addQuantities, quantityOf(1))',
  },
  {
    proof: 'one client that floods the server does not keep the others from being served',
    test: 'packages/apiserver/flow-control/flow-control.test.ts',
    file: 'packages/apiserver/flow-control/priority-queues.ts',
    find: 'if (!next || tagOf(queue, this.#virtualTime) < tagOf(next, this.#virtualTime)) next = queue',
    replace: 'next ??= queue',
  },
  {
    proof: 'a machine joins with a token and a hash, and then needs neither',
    test: 'packages/bootstrap/join-node.test.ts',
    file: 'packages/bootstrap/join-node.ts',
    find: `  if (known !== undefined) return { server, authorityPem: known }
`,
    replace: '',
  },
  {
    proof: 'a controller whose watch lags behind does not create the same objects twice',
    test: 'packages/controller-runtime/controller.test.ts',
    file: 'packages/controller-runtime/informer-set.ts',
    find: `    informer()?.recordWrite(object)
`,
    replace: '',
  },
  {
    proof:
      'away from the server an informer keeps its objects, retries ever less often, and says how old they are',
    test: 'packages/client/informer.test.ts',
    file: 'packages/client/informer.ts',
    find: 'createBackoff(clientBounds.informer.retry, deps.random)',
    replace: 'createBackoff({ ...clientBounds.informer.retry, maxMs: 800 }, deps.random)',
  },
]

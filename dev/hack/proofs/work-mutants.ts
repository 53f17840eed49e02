import type { Mutant } from './mutant.ts'

/** The mutants of promises of works and virtual clusters. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'a script returns plain data',
    test: 'packages/lua/lua-script.test.ts',
    file: 'packages/lua/lua-json.ts',
    find: `if (typeof key !== 'string') throw new LuaError(\`\${shown(path)} has a \${typeOf(key)} as a key\`)`,
    replace: `if (typeof key !== 'string') continue`,
  },
  {
    proof: 'a script that takes too much is stopped, and cannot catch that',
    test: 'packages/lua/lua-script.test.ts',
    file: 'packages/lua/lua-base-library.ts',
    find: 'if (!(error instanceof LuaError)) throw error',
    replace: 'if (!(error instanceof Error) || !("value" in error)) return [false]',
  },
  {
    proof: 'a webhook that lies, refuses or redirects gives no answer',
    test: 'packages/interpreter/webhook/webhook-interpreter.test.ts',
    file: 'packages/interpreter/webhook/webhook-interpreter.ts',
    find: `  if (response['uid'] !== uid) throw new Error('its response is to another request')
`,
    replace: '',
  },
  {
    proof: "a patch changes an object's contents, never its identity",
    test: 'packages/interpreter/webhook/webhook-interpreter.test.ts',
    file: 'packages/interpreter/webhook/webhook-interpreter.ts',
    find: 'return readObject(applied(object, operations), object)',
    replace:
      'return readObject(applied(object, operations), applied(object, operations) as AnyObject)',
  },
  {
    proof: 'an object that was there before is left alone, or taken over where the Work says so',
    test: 'packages/cluster-agent/work/run-works.test.ts',
    file: 'packages/cluster-agent/work/plan-manifest.ts',
    find: '  if (!isManaged(observed) && !takesOver) {',
    replace: '  if (!isManaged(observed) && takesOver) {',
  },
  {
    proof: 'an object that a Work could not have is not deleted with it',
    test: 'packages/cluster-agent/work/run-works.test.ts',
    file: 'packages/cluster-agent/work/plan-manifest.ts',
    find: `return metadata.labels?.[karmadaKeys.managed] === 'true'`,
    replace: `return metadata.name !== ''`,
  },
  {
    proof: 'that claims to be of a policy of another namespace is not believed',
    test: 'packages/propagation/propagation/plan-propagation.test.ts',
    file: 'packages/propagation/propagation/plan-propagation.ts',
    find: '(claim.scope !== namespacedPolicies || metadata.namespace === claim.policy.namespace),',
    replace: 'claim.scope !== undefined,',
  },
  {
    proof: 'that claims to be of a policy that does not select it goes nowhere',
    test: 'packages/propagation/propagation/plan-propagation.test.ts',
    file: 'packages/propagation/propagation/plan-propagation.ts',
    find: `return rank > selectorRanks.none ? { act: 'apply', policy: claimant } : { act: 'nothing' }`,
    replace: `return rank >= selectorRanks.none ? { act: 'apply', policy: claimant } : { act: 'nothing' }`,
  },
  {
    proof: 'an object that would reach other virtual clusters is refused',
    test: 'packages/virtual-clusters/mapping/mapping.test.ts',
    file: 'packages/virtual-clusters/mapping/mapping.ts',
    find: `if (groupKind === '/Binding') {`,
    replace: `if (groupKind === '/Bindings') {`,
  },
  {
    proof: 'two virtual clusters never mean the same name',
    test: 'packages/virtual-clusters/mapping/namespace-rule.test.ts',
    file: 'packages/virtual-clusters/mapping/namespace-rule.ts',
    find: `const doubled = namespace.replaceAll('-', '--')`,
    replace: 'const doubled = namespace',
  },
  {
    proof: 'an agent answers for its own virtual clusters, and for nobody if it knows of none',
    test: 'packages/virtual-clusters/view/no-leak.test.ts',
    file: 'packages/membership/rights/impersonation-policy.ts',
    find: `if (user === '' || others.length > 0) return 'it names no user to impersonate'
`,
    replace: '',
  },
  {
    proof: 'a user with rights in each namespace of a virtual cluster sees all of it, and no more',
    test: 'packages/virtual-clusters/view/read-view.test.ts',
    file: 'packages/virtual-clusters/view/read-view.ts',
    find: 'if (!(await mayDoInEach(view.asAgent, question, members, signal))) return refusal',
    replace: 'await mayDoInEach(view.asAgent, question, members, signal)',
  },
  {
    proof: 'a watch does not show a namespace that appears and in which its reader has no right',
    test: 'packages/virtual-clusters/view/read-view.test.ts',
    file: 'packages/virtual-clusters/view/read-view.ts',
    find: 'const verdict = await mayDo(view.asAgent, question, signal)',
    replace: `const verdict = (await mayDo(view.asAgent, question, signal)) || namespace !== ''`,
  },
  {
    proof:
      'pods in a namespace of a virtual cluster are made for its nodes, no matter who makes them',
    test: 'packages/virtual-clusters/isolation/isolation.test.ts',
    file: 'packages/virtual-clusters/isolation/isolation-policies.ts',
    find: `    ...policy('virtual-cluster-pods.edge.skerry.io', podRules),
`,
    replace: '',
  },
  {
    proof: 'its pods are bound by the scheduler alone',
    test: 'packages/virtual-clusters/isolation/isolation.test.ts',
    file: 'packages/virtual-clusters/isolation/isolation-policies.ts',
    find: `    ...policy('virtual-cluster-bindings.edge.skerry.io', bindingRules(schedulers)),
`,
    replace: `    ...(schedulers.length < 0 ? policy('virtual-cluster-bindings.edge.skerry.io', bindingRules(schedulers)) : []),
`,
  },
  {
    proof: 'only users who may update a virtual cluster may change whose a namespace is',
    test: 'packages/virtual-clusters/isolation/isolation.test.ts',
    file: 'packages/virtual-clusters/isolation/isolation-policies.ts',
    find: `    ...policy('virtual-cluster-namespaces.edge.skerry.io', namespaceRules),
`,
    replace: '',
  },
  {
    proof: 'a namespace in which somebody keeps something stays, and names the reason',
    test: 'packages/virtual-clusters/groups/empty-namespaces.test.ts',
    file: 'packages/virtual-clusters/groups/empty-namespace-controller.ts',
    find: `    if (content) {
      this.#unmeant`,
    replace: `    if (content && member === '') {
      this.#unmeant`,
  },
  {
    proof: 'a shared object changes when all virtual clusters want the change, never before',
    test: 'packages/cluster-agent/work/plan-shared.test.ts',
    file: 'packages/cluster-agent/work/plan-shared.ts',
    find: `if (wanted === present || others.length === 0) return { act: 'have', ...note }`,
    replace: `if (wanted === present || others.length <= 1) return { act: 'have', ...note }`,
  },
  {
    proof: 'a virtual cluster is reached through its parent, by its own name and rights',
    test: 'roles/agent/virtual-api.test.ts',
    file: 'packages/fleet-kinds/cluster/virtual-child.ts',
    find: 'return metadata.labels?.[virtualOfKey]',
    replace: `return metadata.labels?.['never']`,
  },
  {
    proof: 'the next wave opens when all present clusters are well; an absent one holds up nobody',
    test: 'packages/propagation/propagation/waves.test.ts',
    file: 'packages/propagation/waves/plan-waves.ts',
    find: `    isOpen &&= well >= needed
`,
    replace: '',
  },
  {
    proof: `only the hub's own notice is believed, and only when it makes sense`,
    test: 'packages/gateway/replicas/replica-notice.test.ts',
    file: 'packages/gateway/replicas/replica-notice.ts',
    find: ` && headers['impersonate-user'] === undefined`,
    replace: '',
  },
]

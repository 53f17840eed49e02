import type { Mutant } from './mutant.ts'

/** The mutants of promises about what nodes, namespaces and virtual clusters may reach. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'a node cannot claim a range of pods as its own',
    test: 'packages/apiserver/admission-plugins/node-restriction.test.ts',
    file: 'packages/apiserver/admission-plugins/node-restriction.ts',
    find: `if (!isDeepStrictEqual(ranges(next), old ? ranges(old) : ['', []])) {`,
    replace: `if (!old && !isDeepStrictEqual(ranges(next), ['', []])) {`,
  },
  {
    proof: 'a node draws no traffic to itself by claiming a range',
    test: 'packages/service-proxy/network/pod-network.test.ts',
    file: 'packages/service-proxy/network/pod-network.ts',
    find: 'holds(each.range, range) || holds(range, each.range)',
    replace: 'holds(each.range, range)',
  },
  {
    proof: 'services/proxy dials nothing of another namespace, whatever is in the endpoints',
    test: 'packages/apiserver/subresources/backend/backend.test.ts',
    file: 'packages/apiserver/subresources/backend/claimed-address.ts',
    find: 'return takesPort && isNodeAddress(objects, isSame)',
    replace: 'return !takesPort && isNodeAddress(objects, isSame)',
  },
  {
    proof: 'a session through the node needs the right to create it, too',
    test: 'packages/apiserver/request/request-rights.test.ts',
    file: 'packages/apiserver/subresources/backend/proxy.ts',
    find: `        if (backend.hasSessions === true) await request.requireVerb('create')
`,
    replace: '',
  },
  {
    proof: 'a session with a pod of the node needs the right to create, whatever its method is',
    test: 'packages/kubelet/server/caller-check.test.ts',
    file: 'packages/kubelet/server/caller-check.ts',
    find: `isSession === true ? 'create'`,
    replace: `isSession === true && method === 'POST' ? 'create'`,
  },
  {
    proof: 'a request that HTTP cannot express fails alone',
    test: 'packages/apiserver/subresources/backend/backend-request.test.ts',
    file: 'packages/base/http/request-over.ts',
    find: "stream.on('error', () => undefined).destroy()",
    replace: '',
  },
  {
    proof: 'a request that HTTP/2 cannot express fails alone',
    test: 'packages/gateway/services/service-exchange.test.ts',
    file: 'packages/gateway/services/service-exchange.ts',
    find: `const call = orDestroy(stream, () => {
    // This comes before anything can throw: an unhandled error of a session would end the process.
    session.on('error', (error) => stream.destroy(error))
`,
    replace: `const call = ((make) => make())(() => {
`,
  },
  {
    proof: 'a watch is not resumed for a user who may no longer watch',
    test: 'packages/gateway/watch/cluster-watches.test.ts',
    file: 'packages/gateway/watch/watch-return.ts',
    find: `    await watch.mayGoOn()
`,
    replace: '',
  },
  {
    proof: 'wrong answers of an issuer are not believed',
    test: 'packages/client/oidc/oidc-issuer.test.ts',
    file: 'packages/client/oidc/issuer-fetch.ts',
    find: '...(authorityPem === undefined ? {} : { ca: authorityPem }),',
    replace:
      '...(authorityPem === undefined ? { rejectUnauthorized: false } : { ca: authorityPem }),',
  },
  {
    proof:
      'only an agent that is asked to apply Works, or has virtual clusters, may change the cluster',
    test: 'packages/membership/registration/agent-manifest.test.ts',
    file: 'packages/membership/registration/agent-manifest.ts',
    find: 'const writing = appliesWorks || hasVirtualClusters ? workRules : []',
    replace: 'const writing = workRules',
  },
  {
    proof: 'a binding takes nothing to an edge but objects of its own namespace',
    test: 'packages/propagation/propagation/tenants.test.ts',
    file: 'packages/propagation/propagation/own-object.ts',
    find: 'if (namespace === own && isPropagatable(spec.resource)) return undefined',
    replace: 'if (isPropagatable(spec.resource)) return undefined',
  },
  {
    proof: "a template's claims about its owners, its Work and its policy are not believed",
    test: 'packages/propagation/propagation/tenants.test.ts',
    file: 'packages/propagation/propagation/plan-work.ts',
    find: `    ...templateAnnotations(template),
    ...origin,
`,
    replace: `    ...origin,
    ...template.metadata.annotations,
`,
  },
  {
    proof: 'the secret of a class is in the namespace of each claim or snapshot, and no other',
    test: 'packages/virtual-clusters/mapping/references.test.ts',
    file: 'packages/virtual-clusters/mapping/cluster-scoped-table.ts',
    find: '!ownNamespaceTemplates.has(value)',
    replace: `!value.includes('\${pvc.namespace}')`,
  },
  {
    proof:
      'nothing is made in a namespace that is about to go, until something is sent there again',
    test: 'packages/virtual-clusters/groups/empty-namespaces.test.ts',
    file: 'packages/virtual-clusters/isolation/isolation-policies.ts',
    find: `expression: \`namespaceObject == null || `,
    replace: `expression: \`true || `,
  },
  {
    proof:
      'a node of a virtual cluster may be cordoned, and nothing else of it changes, by any verb',
    test: 'packages/virtual-clusters/view/write-references.test.ts',
    file: 'packages/virtual-clusters/view/cordon-node.ts',
    find: 'if (!equalJson(fixedOf(node), fixedOf(wanted))) {',
    replace: `if (fieldAt(wanted, 'spec', 'unschedulable') === undefined) {`,
  },
  {
    proof: 'a cluster cannot make the hub keep endless events, and harms no other by trying',
    test: 'packages/gateway/watch/cluster-watches.test.ts',
    file: 'packages/gateway/watch/cluster-watches.ts',
    find: 'using held = budgetOf(cluster)',
    replace: `using held = budgetOf('')`,
  },
  {
    proof: 'no manifest leaves its virtual cluster',
    test: 'packages/virtual-clusters/mapping/any-manifest.test.ts',
    file: 'packages/virtual-clusters/mapping/reference-table.ts',
    find: "  [`${term}.namespaces.*`]: 'namespace',\n",
    replace: '',
  },
  {
    proof: 'a virtual cluster sees no object of another one, of any kind and by any way of asking',
    test: 'packages/virtual-clusters/view/no-leak.test.ts',
    file: 'packages/virtual-clusters/view/own-objects.ts',
    find: 'if (owner && owner.cluster !== clusterName) {',
    replace: `if (owner && owner.cluster === '') {`,
  },
  {
    proof: 'a path that could be read in two ways, or leads out of the virtual cluster, is refused',
    test: 'packages/virtual-clusters/view/no-leak.test.ts',
    file: 'packages/virtual-clusters/view/view-handler.ts',
    find: 'if (!info.isResourceRequest) throw notFound()',
    replace: 'if (!info.isResourceRequest) return api.onRequest(request, signal)',
  },
  {
    proof:
      "the agent's own rights do not answer for a user whom the operator keeps it from acting for",
    test: 'packages/virtual-clusters/view/read-view.test.ts',
    file: 'packages/virtual-clusters/view/view-handler.ts',
    find: `  if (why !== undefined) throw new StatusError('Forbidden', \`Cannot pass request: \${why}\`)
`,
    replace: '',
  },
  {
    proof:
      "a page of another origin writes nothing and opens no WebSocket with its reader's certificate",
    test: 'packages/apiserver/request/own-origin.test.ts',
    file: 'packages/apiserver/request/own-origin.ts',
    find: 'if (readMethods.has(method) && !isUpgrade) return',
    replace: 'if (readMethods.has(method)) return',
  },
  {
    proof: `a definition's path of replicas reaches own members only`,
    test: 'packages/apiserver/handlers/scale-path.test.ts',
    file: 'packages/api/json.ts',
    find: 'return Object.hasOwn(target, key) ? target[key] : undefined',
    replace: 'return target[key]',
  },
  {
    proof:
      'a certificate issued before a revocation is void and one issued after it is good, whatever the clocks said',
    test: 'packages/membership/registration/agent-revocation.test.ts',
    file: 'packages/membership/registration/agent-revocation.ts',
    find: 'generations[part] < revocation.generation',
    replace: 'generations[part] <= revocation.generation',
  },
  {
    proof: 'a node takes no external address away from a service by calling it its own',
    test: 'packages/apiserver/admission-plugins/node-restriction.test.ts',
    file: 'packages/apiserver/admission-plugins/node-addresses.ts',
    find: 'return [...(spec?.externalIPs ?? []), ...ingress.flatMap(({ ip }) => ip ?? [])]',
    replace: 'return [...(spec?.externalIPs ?? [])]',
  },
]

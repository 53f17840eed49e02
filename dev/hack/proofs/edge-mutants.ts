import type { Mutant } from './mutant.ts'

/**
 * The mutants of promises about damaged files, unreadable objects, addresses, and the rights of virtual
 * clusters and clients.
 */
export const mutants: readonly Mutant[] = [
  {
    proof:
      'a damaged key for which an agent was about to ask a certificate is made again, or refused in one line',
    test: 'roles/agent/damaged-identity.test.ts',
    file: 'roles/runtime/pending-key.ts',
    find: 'if (known !== undefined && isPrivateKey(known)) {',
    replace: 'if (known !== undefined) {',
  },
  {
    proof: 'a damaged serving certificate is requested again; a directory in its place is refused',
    test: 'packages/bootstrap/join-node.test.ts',
    file: 'packages/bootstrap/join-node.ts',
    find: `    isReplaceable: true as const,
`,
    replace: '',
  },
  {
    proof:
      'a damaged identity of a virtual cluster is requested again; an obstacle in its place is refused in one line',
    test: 'roles/agent/virtual-identities.test.ts',
    file: 'roles/agent/virtual-identities.ts',
    find: `    isReplaceable: true as const,
`,
    replace: '',
  },
  {
    proof:
      'each damaged file of a control plane is made again or refused in one line, and its keys are never replaced',
    test: 'roles/control-plane/damaged-data.test.ts',
    file: 'packages/apiserver/config-file/config-shape.ts',
    find: "const [line = ''] = message.split('\\n', 1)",
    replace: "const [line = ''] = [message]",
  },
  {
    proof:
      'a service that nobody has read since the start keeps its address, by the IPAddress that names it',
    test: 'packages/apiserver/service-addresses/unreadable-service.test.ts',
    file: 'packages/apiserver/service-addresses/allocation-records.ts',
    find: 'if (services.unreadable(service) !== undefined) return true',
    replace: '',
  },
  {
    proof: 'the addresses and ports of an unreadable service are free as soon as it is deleted',
    test: 'packages/apiserver/service-addresses/unreadable-service.test.ts',
    file: 'packages/apiserver/service-addresses/service-allocator.ts',
    find: "taken.see(object.key, type === 'put' ? holdingsOf(typed(object.parse())) : undefined),",
    replace: "taken.see(object.key, type === '' ? undefined : holdingsOf(typed(object.parse()))),",
  },
  {
    proof:
      'a service that becomes readable again has its addresses back, and no watch goes on as if it had never come',
    test: 'packages/apiserver/service-addresses/unreadable-service.test.ts',
    file: 'packages/apiserver/cache/watch-cache.ts',
    find: 'if (hasAppeared) resource.breakHistory(this.#revision)',
    replace: '',
  },
  {
    proof:
      'an address of the machine is served by that machine alone, at ports that nobody there uses',
    test: 'packages/service-proxy/services/address-plan.test.ts',
    file: 'packages/service-proxy/services/address-plan.ts',
    find: 'return user === undefined ? undefined',
    replace: "return user !== '' ? undefined",
  },
  {
    proof: 'a pod that reaches its node is refused, whichever kind makes it',
    test: 'packages/virtual-clusters/mapping/host-access.test.ts',
    file: 'packages/virtual-clusters/mapping/host-access.ts',
    find: "field !== 'name' && !confinedVolumes.includes(field)",
    replace: "field === 'hostPath'",
  },
  {
    proof: 'a PersistentVolume has only the volume sources that its edge lists',
    test: 'packages/virtual-clusters/mapping/host-access.test.ts',
    file: 'packages/virtual-clusters/mapping/host-access.ts',
    find: 'const known = [...persistentFields, ...sources]',
    replace: "const known = [...persistentFields, ...sources, 'nfs']",
  },
  {
    proof: 'a volume that is sent gives no order to a node or a driver of the edge',
    test: 'packages/virtual-clusters/mapping/host-access.test.ts',
    file: 'packages/virtual-clusters/mapping/wordless.ts',
    find: "without(volume, ['labels', 'annotations'])",
    replace: "without(volume, ['labels'])",
  },
  {
    proof:
      'rights in a namespace of a virtual cluster alone do not let anybody divert traffic for an address',
    test: 'packages/virtual-clusters/isolation/content-rules.test.ts',
    file: 'packages/virtual-clusters/isolation/content-rules.ts',
    find: '&& !variables.asks',
    replace: '',
  },
  {
    proof:
      'a claim in a namespace of a virtual cluster names its own volumes alone, no matter who makes it',
    test: 'packages/virtual-clusters/isolation/content-rules.test.ts',
    file: 'packages/virtual-clusters/isolation/content-rules.ts',
    find: 'oldObject != null && (',
    replace: '(',
  },
  {
    proof: 'the isolation of a namespace is not opened by its status',
    test: 'packages/virtual-clusters/isolation/content-rules.test.ts',
    file: 'packages/virtual-clusters/isolation/isolation-policies.ts',
    find: "['resourcequotas', 'resourcequotas/status']",
    replace: "['resourcequotas']",
  },
  {
    proof: 'a status is judged by its path, whatever kind the body names',
    test: 'packages/virtual-clusters/view/body-kinds.test.ts',
    file: 'packages/virtual-clusters/view/member-body.ts',
    find: 'if (carriesForeignKind({ info, kind })) {',
    replace: "if (info.subresource !== '' && sent['kind'] !== kind.kind) {",
  },
  {
    proof: 'a node takes no external address away from a service by calling it its own',
    test: 'packages/apiserver/admission-plugins/node-restriction.test.ts',
    file: 'packages/apiserver/admission-plugins/node-addresses.ts',
    find: 'return [...(spec?.externalIPs ?? []), ...ingress.flatMap(({ ip }) => ip ?? [])]',
    replace: 'return [...(spec?.externalIPs ?? [])]',
  },
  {
    proof:
      'no service takes an address that the operator of a node keeps for the machines, as the hub is',
    test: 'packages/service-proxy/run-service-network.test.ts',
    file: 'packages/service-proxy/run-service-network.ts',
    find: '[...resolvers, ...config.reservedAddresses]',
    replace: '[...resolvers]',
  },
  {
    proof: 'an annotation that nobody has listed asks for no address either, in any form',
    test: 'packages/virtual-clusters/mapping/external-addresses.test.ts',
    file: 'packages/virtual-clusters/mapping/external-addresses.ts',
    find: 'texts.filter((text) => isIP(text) !== 0)',
    replace: '[]',
  },
  {
    proof:
      'peers that an API server refuses are left for it to refuse, and do not become everybody',
    test: 'packages/virtual-clusters/mapping/references.test.ts',
    file: 'packages/virtual-clusters/mapping/network-policy.ts',
    find: 'if (values.length === 0 || values.length < listed.length) return { own: selector }',
    replace: '',
  },
  {
    proof: 'attributes of a volume or a class name no namespace of the edge to a driver',
    test: 'packages/virtual-clusters/mapping/host-access.test.ts',
    file: 'packages/virtual-clusters/mapping/cluster-scoped-table.ts',
    find: "key.toLowerCase().includes('namespace')",
    replace: "key.toLowerCase().endsWith('namespace')",
  },
  {
    proof: 'a claim that is sent chooses no node to make its volume',
    test: 'packages/virtual-clusters/mapping/host-access.test.ts',
    file: 'packages/virtual-clusters/mapping/wordless.ts',
    find: 'withoutAnnotation(claim, selectedNodeAnnotation)',
    replace: 'claim',
  },
  {
    proof: 'the owner of a namespace stays, whatever kind the body of a subresource names',
    test: 'packages/virtual-clusters/view/body-kinds.test.ts',
    file: 'packages/virtual-clusters/view/member-body.ts',
    find: 'if (carriesForeignKind({ info, kind })) {',
    replace: "if (info.subresource !== '' && sent['kind'] !== kind.kind) {",
  },
  {
    proof:
      'a subresource of another kind than its resource is distinguished from one that carries the object',
    test: 'packages/client/discovery.test.ts',
    file: 'packages/client/discovery.ts',
    find: '(other.group || group) !== (own.group || group)',
    replace: 'false',
  },
  {
    proof:
      'an object that would reach the machine of a node is reported at the hub, and is not made',
    test: 'packages/virtual-clusters/mapping/virtual-works.test.ts',
    file: 'packages/virtual-clusters/mapping/mapping.ts',
    find: 'refuseVolumeSource(manifest, options.volumeSources ?? [])',
    replace: '',
  },
  {
    proof: 'in a confined namespace no pod reaches its node, no matter who makes it',
    test: 'packages/virtual-clusters/isolation/isolation.test.ts',
    file: 'packages/virtual-clusters/isolation/isolation-policies.ts',
    find: "variables.level in ['', 'privileged'] ||",
    replace: 'true ||',
  },
  {
    proof: 'only users who may update a virtual cluster may change whose a namespace is',
    test: 'packages/virtual-clusters/isolation/isolation.test.ts',
    file: 'packages/virtual-clusters/isolation/isolation-policies.ts',
    find: 'variables.levelAfter == variables.levelBefore ||',
    replace: 'true ||',
  },
  {
    proof: 'pods of a virtual cluster are kept from its nodes until the edge allows it',
    test: 'roles/agent/virtual-clusters-change.test.ts',
    file: 'packages/virtual-clusters/groups/virtual-namespaces.ts',
    find: `    await this.#confine(namespace, signal)
`,
    replace: '',
  },
  {
    proof: 'no reference that is written by any verb names anything outside of the virtual cluster',
    test: 'packages/virtual-clusters/view/write-references.test.ts',
    file: 'packages/virtual-clusters/mapping/map-references.ts',
    find: 'hostName: (names) => ofText(names.hostName),',
    replace: 'hostName: () => (value) => value,',
  },
  {
    proof: 'no reference of a manifest in a Work names anything outside of the virtual cluster',
    test: 'packages/virtual-clusters/view/write-references.test.ts',
    file: 'packages/virtual-clusters/mapping/map-references.ts',
    find: 'namespaceSelector: (names) => ofObject(names.namespaceSelector),',
    replace: 'namespaceSelector: () => (value) => value,',
  },
  {
    proof:
      'a node of a virtual cluster may be cordoned, and nothing else of it changes, by any verb',
    test: 'packages/virtual-clusters/view/write-references.test.ts',
    file: 'packages/virtual-clusters/view/write-view.ts',
    find: "if (verb === 'delete') throw readOnly(info, clusterName)",
    replace: '',
  },
  {
    proof: 'a request whose lines contradict each other is refused as the mistake of its sender',
    test: 'roles/hub/hub-services-refused.test.ts',
    file: 'packages/gateway/services/service-routes.ts',
    find: 'if (isOfRequest(error)) return notSendable(why, error)',
    replace: '',
  },
  {
    proof:
      'a body that breaks off ends its request at once, and leaves neither connection nor timer',
    test: 'packages/apiserver/subresources/backend/backend-request.test.ts',
    file: 'packages/base/http/request-over.ts',
    find: 'if (body) pipeline(body, outgoing).catch(fail)',
    replace: `const send = async () => {
      for await (const part of body ?? []) outgoing.write(part)
    }
    if (body) send().catch(() => undefined)`,
  },
  {
    proof:
      'a request that is given up as it begins ends at once, and leaves neither connection nor timer',
    test: 'packages/apiserver/subresources/backend/backend-request.test.ts',
    file: 'packages/base/http/request-over.ts',
    find: 'if (signal.aborted) throw abortReason(signal)',
    replace: '',
  },
  {
    proof: 'a body that breaks off ends its request at once, and its connection',
    test: 'packages/gateway/services/service-exchange.test.ts',
    file: 'packages/gateway/services/service-exchange.ts',
    find: 'answer.catch(() => stream.destroy())',
    replace: 'answer.catch(() => undefined)',
  },
  {
    proof: 'an operation that takes the engine long is charged as much, whatever its arguments',
    test: 'packages/lua/lua-cost.test.ts',
    file: 'packages/lua/lua-run.ts',
    find: 'this.step(errorSteps + leftCallSteps * left)',
    replace: 'this.step(errorSteps)',
  },
  {
    proof: 'a script that is not Lua is read once, until many others have been',
    test: 'packages/interpreter/custom/lua-interpreter.test.ts',
    file: 'packages/interpreter/custom/lua-interpreter.ts',
    find: 'const script = this.#read.get(text) ?? this.#readOnce(text)',
    replace: `const known = this.#read.get(text)
    const script = (known instanceof LuaError ? undefined : known) ?? this.#readOnce(text)`,
  },
  {
    proof: 'a containerd whose pid file is damaged is known again, and goes on',
    test: 'packages/kubelet/containerd/damaged-files.test.ts',
    file: 'packages/kubelet/containerd/supervise-containerd.ts',
    find: '?? (await this.#findUnwritten())',
    replace: '',
  },
]

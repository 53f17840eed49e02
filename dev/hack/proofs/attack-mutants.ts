import type { Mutant } from './mutant.ts'

/** The mutants of promises about hostile users, peers, nodes and clocks. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'authorizers are asked the questions that upstream asks about the same request',
    test: 'dev/differential/authorization/replay.test.ts',
    file: 'packages/apiserver/contract/request-attributes.ts',
    find: `if (isVerbInPath || (verb !== 'list' && verb !== 'watch')) return ''`,
    replace: `if (isVerbInPath) return ''`,
  },
  {
    proof:
      'a right to one name creates and deletes nothing of another name, whatever the selector says',
    test: 'packages/apiserver/request/request-rights.test.ts',
    file: 'packages/apiserver/contract/request-attributes.ts',
    find: `if (isVerbInPath || (verb !== 'list' && verb !== 'watch')) return ''`,
    replace: `if (isVerbInPath) return ''`,
  },
  {
    proof: 'a request that does two things needs the right to both, as in upstream',
    test: 'dev/differential/authorization/replay.test.ts',
    file: 'packages/apiserver/request/request-rights.ts',
    find: `    await requireRight({ ...asked, verb }, authorizer)
`,
    replace: '',
  },
  {
    proof: 'a session ends when any of the rights that it needed is gone',
    test: 'packages/apiserver/request/request-rights.test.ts',
    file: 'packages/apiserver/request/request-rights.ts',
    find: `    for (const verb of verbs) await requireVerb(verb)
`,
    replace: '',
  },
  {
    proof: 'a request to a node needs the right that upstream asks for',
    test: 'packages/kubelet/server/caller-check.test.ts',
    file: 'packages/kubelet/server/caller-check.ts',
    find: `(verbs[method] ?? '')`,
    replace: `(verbs[method] ?? 'get')`,
  },
  {
    proof:
      'a user who may only look at a cluster opens no session there, whatever the edge calls it',
    test: 'roles/hub/hub-streams.test.ts',
    file: 'packages/gateway/proxy/cluster-proxy.ts',
    find: `await admitted.requireVerb('create')`,
    replace: `await admitted.requireVerb('get')`,
  },
  {
    proof: 'a pod acts as its own node by a right that names no node, and as that node alone',
    test: 'packages/apiserver/authn/impersonation.test.ts',
    file: 'packages/apiserver/authn/impersonation-modes.ts',
    find: 'return only === node && more.length === 0',
    replace: `return only !== '' && more.length === 0`,
  },
  {
    proof: 'each text of a pod that may name an object is in the list, or is known to name none',
    test: 'packages/api/pod-references.test.ts',
    file: 'packages/api/pod-references.ts',
    find: `  volume('secrets', 'scaleIO', 'secretRef.name'),
`,
    replace: '',
  },
  {
    proof: 'a target that is not a path ends its request, and not the node agent',
    test: 'packages/kubelet/server/kubelet-server.test.ts',
    file: 'packages/kubelet/server/kubelet-server.ts',
    find: `const parsed = URL.parse(url, 'https://node')`,
    replace: `const parsed = new URL(url, 'https://node')`,
  },
  {
    proof: 'an odd answer of a webhook fails its request only',
    test: 'packages/apiserver/subresources/backend/odd-answers.test.ts',
    file: 'packages/base/http/answer-to.ts',
    find: `    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(new PeerAnswerError(peer, 'it switched protocols without being asked'))
    })
    // This stays after the answer: the connection's error then arrives here, too, and reaches the
    // reader through the body.
    outgoing.on('error', reject)
    outgoing.once('close', () => reject(new PeerAnswerError(peer, 'it closed the connection')))
`,
    replace: `    outgoing.on('error', reject)
`,
  },
  {
    proof: `odd frames of an edge's service end their request only`,
    test: 'packages/gateway/proxy/odd-agents.test.ts',
    file: 'packages/gateway/services/service-exchange.ts',
    find: 'if (!session.destroyed) session.setLocalWindowSize(windowBytes)',
    replace: 'session.setLocalWindowSize(windowBytes)',
  },
  {
    proof: 'an address leads to the machine, its link, groups or secrets however it is written',
    test: 'packages/base/outbound/special-address.test.ts',
    file: 'packages/base/outbound/special-address.ts',
    find: `  [listOf([['64:ff9b::', 96]]), 12],
`,
    replace: '',
  },
  {
    proof: 'proxies refuse targets that they may not reach',
    test: 'packages/apiserver/subresources/backend/backend.test.ts',
    file: 'packages/base/outbound/special-address.ts',
    find: `  ['127.0.0.0', 8],
`,
    replace: '',
  },
  {
    proof: 'a page of an edge has an origin of its own, and no influence on the hub',
    test: 'packages/gateway/proxy/odd-agents.test.ts',
    file: 'packages/gateway/proxy/forwarded-headers.ts',
    find: `  headers['content-security-policy'] = [...own, sandbox]
`,
    replace: '',
  },
  {
    proof:
      'a user who may write services, slices and labels leads an allowed service to nothing but its pods',
    test: 'roles/hub/hub-services-moved.test.ts',
    file: 'packages/cluster-agent/forward/pod-endpoints.ts',
    find: `if (host === undefined || host === '' || pod.spec?.hostNetwork === true) return []`,
    replace: `if (host === undefined || host === '') return []`,
  },
  {
    proof:
      'the machine itself is reached by no service, whichever of its addresses is named and in which form',
    test: 'roles/hub/hub-services-moved.test.ts',
    file: 'packages/cluster-agent/forward/service-finder.ts',
    find: 'const refused = [...places.addresses, ...ownAddresses()]',
    replace: 'const refused = places.addresses',
  },
  {
    proof:
      'a user who may write services, slices and labels leads an allowed service to nothing but its pods',
    test: 'roles/hub/hub-services-moved.test.ts',
    file: 'packages/cluster-agent/forward/service-finder.ts',
    find: 'return node === undefined || podRanges.covers(node, host)',
    replace: 'return node === undefined || podRanges.has(node)',
  },
  {
    proof: 'a name elsewhere is reached only where the edge allows that very service and port',
    test: 'roles/hub/hub-services-refused.test.ts',
    file: 'packages/cluster-agent/forward/service-finder.ts',
    find: 'if (!isAnywhere && (isName || !hasSelector(object))) {',
    replace: 'if (!isAnywhere && !isName && !hasSelector(object)) {',
  },
  {
    proof: 'whatever address a service names, nobody else loses theirs',
    test: 'packages/service-proxy/services/address-plan.test.ts',
    file: 'packages/service-proxy/services/address-plan.ts',
    find: `if (nodes.has(address)) return 'it is an address of a node'
`,
    replace: '',
  },
  {
    proof: 'no service takes the address of another one, of the DNS or of the machine',
    test: 'packages/service-proxy/services/service-table.test.ts',
    file: 'packages/service-proxy/services/service-table.ts',
    find: '`fib daddr type != local ${serviceKey} vmap @externals`,',
    replace: '`${serviceKey} vmap @externals`,',
  },
  {
    proof:
      'no service of a virtual cluster takes traffic for an address that its edge does not list',
    test: 'packages/virtual-clusters/mapping/external-addresses.test.ts',
    file: 'packages/virtual-clusters/mapping/external-addresses.ts',
    find: `  if (refused.length === 0) return
`,
    replace: `  if (refused.length >= 0) return
`,
  },
  {
    proof: 'whichever way a service is written, it gets no address that the edge does not list',
    test: 'packages/virtual-clusters/view/external-addresses-view.test.ts',
    file: 'packages/virtual-clusters/mapping/external-addresses.ts',
    find: `  if (refused.length === 0) return
`,
    replace: `  if (refused.length >= 0) return
`,
  },
  {
    proof:
      'an override that changes the identity of an object is refused where it is applied, in an event',
    test: 'packages/propagation/propagation/tenants.test.ts',
    file: 'packages/propagation/overrides/apply-overrides.ts',
    find: 'if (rules?.anyOverride !== true) expectKept(policy, changed, next)',
    replace: '',
  },
  {
    proof: 'whatever a policy of a namespace does, the identity of an object stays as it was',
    test: 'packages/propagation/overrides/apply-overrides.test.ts',
    file: 'packages/propagation/overrides/apply-overrides.ts',
    find: 'if (rules?.anyOverride !== true) expectKept(policy, changed, next)',
    replace: '',
  },
  {
    proof: 'no reference that is written by any verb names anything outside of the virtual cluster',
    test: 'packages/virtual-clusters/view/write-references.test.ts',
    file: 'packages/virtual-clusters/view/member-body.ts',
    find: 'return answer.status === 200 && isJsonObject(found) ? fieldAt(found, ...path) : undefined',
    replace:
      'return answer.status === 200 && isJsonObject(found) ? fieldAt(sent, ...path) : fieldAt(sent, ...path)',
  },
  {
    proof: 'a role for all virtual clusters carries no label that a role of the edge could select',
    test: 'packages/virtual-clusters/mapping/references.test.ts',
    file: 'packages/virtual-clusters/mapping/cluster-scoped-table.ts',
    find: 'const key = labels.find((label) => label.startsWith(aggregationLabels))',
    replace: 'const key = labels.find((label) => label === aggregationLabels)',
  },
  {
    proof: 'hostile scripts end within the limits of a call',
    test: 'packages/lua/lua-cost.test.ts',
    file: 'packages/lua/lua-run.ts',
    find: 'if (steps > luaLimits.stepsMax) {',
    replace: 'if (steps > luaLimits.stepsMax * 1_000) {',
  },
  {
    proof: 'each library function is charged for its work',
    test: 'packages/lua/lua-cost.test.ts',
    file: 'packages/lua/lua-string-library.ts',
    find: `    args.run.step(Math.ceil((text.length * (pattern.length + 1)) / 64))
`,
    replace: '',
  },
  {
    proof: 'when too much waits, the user who holds the most loses the answer that waits longest',
    test: 'packages/apiserver/http/unread-bytes.test.ts',
    file: 'packages/apiserver/http/unread-bytes.ts',
    find: 'if (!oldest || held.since < oldest.since) oldest = held',
    replace: 'if (!oldest || held.since > oldest.since) oldest = held',
  },
  {
    proof:
      'two hundred unread watch-lists hold only as much as one user may, and others are served',
    test: 'packages/apiserver/http/stalled-readers.test.ts',
    file: 'packages/apiserver/http/unread-bytes.ts',
    find: `    while (of.bytes > unreadBytesPerUserMax && this.#endOldest(user)) continue
`,
    replace: '',
  },
  {
    proof: 'a reader that takes nothing for a minute is ended; one that takes a little is not',
    test: 'packages/apiserver/http/paced-output.test.ts',
    file: 'packages/apiserver/http/paced-output.ts',
    find: 'if (!this.#mayStay) this.#away',
    replace: 'if (this.#mayStay) this.#away',
  },
  {
    proof: 'users take turns: the one whose texts took the least time is next',
    test: 'packages/apiserver/yaml/yaml-reader.test.ts',
    file: 'packages/apiserver/yaml/yaml-reader.ts',
    find: 'const text = this.#leastServed()',
    replace: 'const [text] = this.#waiting',
  },
  {
    proof: 'YAML that takes seconds to parse leaves the event loop to others',
    test: 'packages/apiserver/yaml/yaml-reader.test.ts',
    file: 'packages/apiserver/yaml/yaml-reader.ts',
    find: 'if (request.text.length <= limits.yamlHereCharactersMax) return parseYaml(request)',
    replace: 'if (request.text.length >= 0) return parseYaml(request)',
  },
  {
    proof:
      'keys without their store are refused with the remedy, and an empty cluster begins only on request',
    test: 'roles/control-plane/require-store.test.ts',
    file: 'roles/control-plane/require-store.ts',
    find: `  if (size !== undefined && size > 0) return
`,
    replace: `  if (size === undefined || size >= 0) return
`,
  },
  {
    proof:
      'a control plane that starts once with a clock 11 years ahead is reached when the clock is right again',
    test: 'packages/bootstrap/clock-table.test.ts',
    file: 'packages/bootstrap/certificate-lifetimes.ts',
    find: 'return notBeforeMs <= nowMs && nowMs < notAfterMs',
    replace: 'return nowMs < notAfterMs',
  },
  {
    proof: 'rules of policies that another program flushed are written again, as a whole',
    test: 'packages/service-proxy/policy/network-policies.test.ts',
    file: 'packages/service-proxy/policy/kernel-table.ts',
    find: 'if (now === applied.fingerprint) return',
    replace: 'if (now !== undefined) return',
  },
]

import type { Mutant } from './mutant.ts'

/** The mutants of promises about the ways to a hub and through it, and about who may take them. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'is named, with the reason; no password is shown',
    test: 'packages/base/outbound/outbound.test.ts',
    file: 'packages/base/outbound/connect-by-proxy.ts',
    find: `? 'it does not take this user and password'`,
    replace: '? `it does not take ${login.user} with ${login.password}`',
  },
  {
    proof: 'is refused at the start, and no password is shown',
    test: 'roles/hub/hub-network.test.ts',
    file: 'roles/runtime/way-to-hub.ts',
    find: '`Cannot use ${from}: it is not the URL of',
    replace: '`Cannot use ${from}: ${text} is not the URL of',
  },
  {
    proof: 'past a box that opens TLS an agent registers and is reached; the box reads nothing',
    test: 'roles/hub/hub-network.test.ts',
    file: 'packages/tunnel/carrier/connect-by-carrier.ts',
    find: 'isUnchecked: true',
    replace: 'isUnchecked: false',
  },
  {
    proof: 'data that is not TLS in a carrier ends it, and nothing else',
    test: 'roles/hub/hub-network.test.ts',
    file: 'packages/apiserver/http/http-server.ts',
    find: `      own(connection)
      onArrival(connection, address, address)`,
    replace: `      onArrival(connection, address, address)
      connection.destroy = () => connection`,
  },
  {
    proof: 'unless configured to, neither end goes past a box that opens TLS',
    test: 'roles/hub/hub-network.test.ts',
    file: 'roles/hub/parts/carrier.ts',
    find: `  if (allowInspectedTls !== true) return {}
`,
    replace: '',
  },
  {
    proof: "a node learns only names, labels, addresses and named ports of other nodes' pods",
    test: 'roles/site/site-node-rights.test.ts',
    file: 'packages/service-proxy/policy/pod-peer.ts',
    find: `if (field !== 'apiVersion') delete object[field]`,
    replace: `if (field !== 'apiVersion' && field !== 'spec') delete object[field]`,
  },
  {
    proof:
      'a ClusterAccess leads to services by the verbs that it lists for them, and by no others',
    test: 'roles/hub/hub-services-refused.test.ts',
    file: 'packages/gateway/access/cluster-grants.ts',
    find: `const granted = subresource === 'proxy' ? verbs : serviceVerbs`,
    replace: 'const granted = subresource ? verbs : serviceVerbs',
  },
  {
    proof:
      'open connections to a service end soon after the right to them is taken away, and the audit line says so',
    test: 'roles/hub/hub-services.test.ts',
    file: 'packages/gateway/services/service-routes.ts',
    find: 'visit.transfer.end(signal.reason === accessEnded ? accessEnded.message : undefined)',
    replace: 'visit.transfer.end()',
  },
  {
    proof: 'one kubeconfig has the hub and every cluster that its user may reach, and no secret',
    test: 'roles/client/kubeconfig/hub-kubeconfig.test.ts',
    file: 'roles/client/kubeconfig/hub-kubeconfig.ts',
    find: 'await writeFile(next, stringify(config, { lineWidth: 0 }), { mode: 0o600 })',
    replace: 'await writeFile(next, stringify(config, { lineWidth: 0 }), { mode: 0o644 })',
  },
  {
    proof: 'a hub says where to log in only if configured to, and then to anybody',
    test: 'roles/client/login/login.test.ts',
    file: 'roles/hub/parts/login.ts',
    find: `    return {}
  }
  return {
    routes({ issuers }) {`,
    replace: `    return { access: () => ({ authorizers: [loginOffersAuthorizer] }) }
  }
  return {
    routes({ issuers }) {`,
  },
  {
    proof: 'only its own agent may open the tunnel of a cluster',
    test: 'roles/hub/hub.test.ts',
    file: 'packages/fleet-kinds/cluster/agent-identity.ts',
    find: 'if (!groups.includes(agentsGroup) || !name.startsWith(agentUserPrefix)) return undefined',
    replace: 'if (groups.length === 0 || !name.startsWith(agentUserPrefix)) return undefined',
  },
  {
    proof:
      'a cluster leaves its hub with one command, and its agent cannot come back without a new token',
    test: 'roles/agent/leave.test.ts',
    file: 'roles/admin/strike-off.ts',
    find: 'await revokeAgent(hub, { cluster: name, nowMs }, signal)',
    replace: 'await Promise.resolve(revokeAgent)',
  },
  {
    proof: "a revocation uses the hub's clock, whatever the administrator's clock says",
    test: 'cmd/commands/cluster-commands.test.ts',
    file: 'roles/client/clusters/revoke-cluster.ts',
    find: 'return Number.isNaN(dateMs) ? Date.now() : dateMs',
    replace: 'return Date.now()',
  },
  {
    proof: 'any replica reaches a cluster, wherever its tunnel ends',
    test: 'roles/hub/hub-replicas.test.ts',
    file: 'packages/gateway/replicas/connected-clusters.ts',
    find: 'return isOpen(own, cluster) || ids.length === 0 ? [here, ...there] : there',
    replace: 'return there.length > 0 ? [here] : there',
  },
  {
    proof: 'only a replica may open a link, and with its own certificate',
    test: 'roles/hub/hub-replicas.test.ts',
    file: 'packages/gateway/replicas/replica-route.ts',
    find: 'if (!replica || certificateHashOf(request) !== replica.certificateHash) {',
    replace: 'if (!replica) {',
  },
  {
    proof: 'open requests to many clusters through another replica keep nobody from the others',
    test: 'roles/hub/hub-replica-streams.test.ts',
    file: 'packages/gateway/limits-table.ts',
    find: 'streamsMax: 2 * userStreamDefaults.inAll,',
    replace: 'streamsMax: 2 * userStreamDefaults.perCluster,',
  },
  {
    proof: 'a hub that traces nothing passes no trace on',
    test: 'roles/hub/hub-tracing.test.ts',
    file: 'packages/gateway/way/traced-way.ts',
    find: `if (request.headers['traceparent'] === undefined) return request`,
    replace: `if (request.headers['traceparent'] !== '') return request`,
  },
  {
    proof: 'an agent that comes back after its certificate expired goes on with its old key',
    test: 'roles/hub/hub-registration.test.ts',
    file: 'packages/membership/registration/re-enrolment-route.ts',
    find: `verdict: isAsked ? 'allow' : 'no-opinion'`,
    replace: `verdict: isAsked ? 'no-opinion' : 'no-opinion'`,
  },
  {
    proof:
      'a client that vanishes from its session is noticed: the hub probes it when nothing is sent',
    test: 'roles/hub/hub-streams.test.ts',
    file: 'packages/apiserver/http/http-server.ts',
    find: 'keepAliveInitialDelay: 15_000',
    replace: 'keepAliveInitialDelay: 7_200_000',
  },
  {
    proof: 'an agent that breaks a rule of the tunnel is recorded with the rule',
    test: 'roles/hub/hub-floods.test.ts',
    file: 'packages/gateway/tunnels/tunnel-route.ts',
    find: `          if (session.brokenRule !== undefined) deps.onBroken?.(opener, session)
`,
    replace: '',
  },
  {
    proof:
      'unread lists and watches of a cluster hold only as much as one user may, at hub and edge',
    test: 'roles/hub/hub-unread.test.ts',
    file: 'packages/apiserver/http/unread-bytes.ts',
    find: `    while (of.bytes > unreadBytesPerUserMax && this.#endOldest(user)) continue
`,
    replace: '',
  },
  {
    proof:
      'an anonymous user may read health, version, cluster-info and the program, and nothing else',
    test: 'roles/hub/hub-anonymous.test.ts',
    file: 'packages/apiserver/contract/user-names.ts',
    find: 'groups: Object.freeze([systemGroups.unauthenticated]),',
    replace: `groups: Object.freeze([systemGroups.unauthenticated, 'system:authenticated']),`,
  },
  {
    proof:
      'after one login kubectl reaches the hub and its clusters with tokens that renew themselves',
    test: 'roles/client/login/login.test.ts',
    file: 'roles/client/login/credential.ts',
    find: 'tokens.expiresAtMs - leftMsMin > clock.now()',
    replace: 'tokens.expiresAtMs + 1e12 > clock.now()',
  },
  {
    proof: "a hub that names another hub's client gets no token that is valid there",
    test: 'roles/client/login/login.test.ts',
    file: 'roles/client/login/login.ts',
    find: `  requireSameFleet({ ...options, hub }, client, hubs)
`,
    replace: '',
  },
  {
    proof: 'a body compressed at the edge passes as it is',
    test: 'roles/hub/hub-floods.test.ts',
    file: 'packages/gateway/proxy/forwarded-headers.ts',
    find: `  'clear-site-data',
`,
    replace: `  'clear-site-data',
  'content-encoding',
`,
  },
  {
    proof: 'a compressed body is not opened by the hub',
    test: 'roles/hub/hub-floods.test.ts',
    file: 'packages/apiserver/http/read-body.ts',
    find: 'return parts.length === 1 ? (parts[0] ?? noBody) : Buffer.concat(parts, length)',
    replace: `const whole = Buffer.concat(parts, length)
  return whole[0] === 0x1f ? process.getBuiltinModule('node:zlib').gunzipSync(whole) : whole`,
  },
  {
    proof: 'a refused session is recorded as refused, no matter who refused it, with its cluster',
    test: 'roles/hub/hub-session-audit.test.ts',
    file: 'packages/gateway/proxy/pass-upgrade.ts',
    find: `  onRefused?.(answer.status)
`,
    replace: '',
  },
  {
    proof:
      'an object that an agent may not write is reported at the hub, and a cluster that goes keeps its objects',
    test: 'roles/agent/agent-works.test.ts',
    file: 'packages/cluster-agent/work/execution-controller.ts',
    find: '(${total - failures.length}/${total}): ${causes}`',
    replace: '(${total - failures.length}/${total})`',
  },
  {
    proof: 'a right to the API does not reach the way by which services are dialled',
    test: 'roles/hub/hub-services-refused.test.ts',
    file: 'packages/apiserver/http/http-server.ts',
    find: `  server.on(
    'upgrade',`,
    replace: `  server.on(
    'connect',`,
  },
]

/** Exceptions from the rules on exports and doors, each with its reason. The lists may only get shorter. */

/** Pure functions that their file also calls: tables test them alone, and they are too small for a file of their own. */
const decisions = [
  'roles/client/explain.ts explanationLines',
  'roles/client/site/rotate-encryption.ts nextName',
  'packages/apiserver/http/negotiate.ts parseAccept',
  'packages/apiserver/metrics-api/usage-history.ts usageBetween',
  'packages/apiserver/registry/delete.ts planDeletion',
  'packages/cluster-agent/push/push-target.ts planPush',
  'packages/controller-runtime/owner-references.ts planClaim',
  'packages/controllers/certificates/csr-cleaner-controller.ts isStale',
  'packages/controllers/certificates/pod-certificate-request-cleaner-controller.ts isOld',
  'packages/controllers/disruption/disruption-controller.ts unmanagedText',
  'packages/controllers/nodes/node-ipam.ts nextPodCidr',
  'packages/controllers/root-ca/cluster-trust-bundle-publisher.ts bundleName',
  'packages/discovery/openapi/descriptions.ts parseDeclarations',
  'packages/gateway/proxy/forwarded-headers.ts impersonation',
  'packages/karmada-kinds/policy/choose-policy.ts selectorRank',
  'packages/kubelet/pods/security-context.ts namespaceOptions',
  'packages/kubelet/resources/container-resources.ts oomScore',
  'packages/lua/lua-value.ts decimalIn',
  'packages/membership/rights/karmada-rights.ts karmadaRights',
  'packages/provisioning/ensure/copy-package.ts batchesOf',
  'packages/provisioning/ensure/copy-package.ts parseSystem',
  'packages/provisioning/ensure/copy-package.ts wantedFiles',
  'packages/provisioning/ensure/program-on-machine.ts versionInLauncher',
  'packages/scheduler/report-unschedulable.ts noteOf',
  'packages/service-proxy/run-service-network.ts networkOf',
  'packages/store/etcd/etcd-watch.ts wholeRevisions',
  'packages/tunnel/agent/tunnel-agent.ts refusalPauseMs',
  'packages/tunnel/session/session-window.ts planWindow',
  'roles/package/collect-debs.ts parseUris',
  'roles/up/reset.ts resetSteps',
]

/** The core of a command: tests of a hub ask it without the command's output. */
const commands = [
  'roles/client/clusters/cluster-describe.ts describeCluster',
  'roles/client/clusters/cluster-describe.ts readCluster',
  'roles/client/clusters/cluster-list.ts statePrinter',
]

/** Tables of names and numbers: a test goes through all of them, or up to a bound. */
const tables = [
  'packages/cluster-agent/report/observed-times.ts observedKeys',
  'packages/gateway/state/agent-metrics.ts agentMetricNames',
  'packages/gateway/state/hub-metrics.ts hubMetricNames',
  'packages/kubelet/images/pause-image.ts pauseArchitectures',
  'packages/kubelet/server/caller-check.ts nodeQuestions',
  'roles/admin/karmada-access.ts karmadaAccounts',
]

/** Parts whose use a test sees only if it makes or recognizes one itself. */
const parts = [
  'packages/apiserver/webhooks/conversion-webhook.ts convertByWebhook',
  'packages/interpreter/create-interpreter.ts createInterpreter',
  'packages/interpreter/custom/lua-interpreter.ts CustomizationError',
  'packages/interpreter/webhook/webhook-interpreter.ts InterpreterWebhookError',
]

/** Exports, as `path/of/file.ts name`, that only tests import. */
export const exportsForTests: readonly string[] = [...decisions, ...commands, ...tables, ...parts]

/**
 * Files of packages that a file outside imports past the door: tests, and developer's scripts. No other file
 * may be imported so, except for what lies in a package's folder testing/.
 */
export const importedPastDoors: Readonly<Record<string, string>> = {
  'packages/apiserver/protobuf/decode-object.ts': 'a script compares our protobuf with upstream’s',
  'packages/apiserver/protobuf/message-table.ts': 'scripts read the generated table',
  'packages/apiserver/protobuf/protobuf-answer.ts':
    'a script compares our protobuf with upstream’s',
  'packages/cluster-agent/report/cluster-facts.ts': 'a scene of a fleet reports as an agent does',
  'packages/gateway/state/agent-metrics.ts': 'a test compares all names with those that are served',
  'packages/gateway/state/hub-metrics.ts': 'a test compares all names with those that are served',
  'packages/interpreter/custom/customization.ts':
    'tests create customizations; the product only reads them',
  'packages/interpreter/custom/kube-library.ts': 'a test of costs takes the largest library of Lua',
  'packages/interpreter/custom/lua-interpreter.ts': 'replays recorded answers of Karmada',
  'packages/interpreter/thirdparty/thirdparty-interpreter.ts':
    'replays recorded answers of Karmada',
  'packages/kinds/generated/schema.json': 'tests of bodies use the schemas of Kubernetes',
  'packages/kinds/schema/crd-schema.ts': 'one test sends random input to all parsers',
  'packages/kinds/structural/structural-check.ts': 'one test sends random input to all parsers',
  'packages/propagation/overrides/applied-overrides.ts': 'replays recorded answers of Karmada',
  'packages/propagation/overrides/override-object.ts': 'replays recorded answers of Karmada',
  'packages/tunnel/frame/tunnel-frame.ts': 'a test breaks the protocol on purpose',
  'packages/tunnel/session/hub-session.ts': 'tests hold one end of a tunnel themselves',
  'packages/tunnel/session/multiplexer.ts': 'a test breaks the protocol on purpose',
  'packages/tunnel/session/tunnel-stream.ts': 'a test breaks the protocol on purpose',
  'packages/virtual-clusters/mapping/mapping.ts':
    'tests of the agent rename objects as a virtual cluster does',
  'packages/virtual-clusters/mapping/namespace-rule.ts':
    'tests of the agent rename objects as a virtual cluster does',
}

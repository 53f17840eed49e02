import type { Mutant } from './mutant.ts'

const aHalfDoneNode = {
  test: 'packages/kubelet/half-done-work.test.ts',
  shownAs: 'a node on which others have worked',
  msMax: 600_000,
} as const
const aHalfDoneMachine = { test: 'dev/e2e/half-done.test.ts', msMax: 420_000 } as const
const twoNodes = { test: 'dev/e2e/second-node.test.ts', msMax: 420_000 } as const

const turnedSwitches = {
  file: 'packages/service-proxy/network/node-network.ts',
  find: 'for (const name of await setSwitches())',
  replace: 'for (const name of [])',
} as const
/** The node agent ends when the API is away. */
const impatientAgent = {
  file: 'packages/kubelet/node/node-agent.ts',
  find: `await this.#retry('renew node lease', signal, (scope) => this.#renew(scope))`,
  replace: 'await this.#renew(signal)',
} as const

/** Promises about what heals: half-done work, lost networks, killed processes, reboots, cut links and clocks. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'a sandbox that has lost its network is replaced with one that has a network',
    test: 'packages/kubelet/pods/lost-network.test.ts',
    file: 'packages/kubelet/pods/pod-observer.ts',
    find: `    if (known && this.#deps.network.hasLost(sandbox.id)) return { ...known, isReady, ips: [] }
`,
    replace: '',
  },
  {
    proof: 'a pod ends though others have mounted over its network namespace',
    test: 'packages/kubelet/pods/lost-network.test.ts',
    file: 'packages/kubelet/cri/stop-sandbox.ts',
    find: 'if (!(await runtime.releaseSandboxNetwork(id, signal))) throw error',
    replace: 'throw error',
  },
  {
    proof: 'a damaged configuration is written again, and containerd starts again with it',
    test: 'packages/kubelet/containerd/damaged-files.test.ts',
    shownAs: 'damaged files of a real containerd',
    msMax: 240_000,
    file: 'packages/kubelet/containerd/supervise-containerd.ts',
    find: 'if (old === text) return false',
    replace: `if (old !== '') return false`,
  },
  {
    proof: 'network namespaces of others: made before, meanwhile, deleted, mounted over, unmounted',
    ...aHalfDoneNode,
    file: 'packages/kubelet/containerd/containerd-config.ts',
    find: 'netns_mounts_under_state_dir: true,',
    replace: 'netns_mounts_under_state_dir: false,',
  },
  {
    proof: 'bridge deleted, addresses and files of the network plugins lost',
    ...aHalfDoneNode,
    file: 'packages/kubelet/node/pod-bridge-plan.ts',
    find: 'raiseBridge: !present?.isUp,',
    replace: 'raiseBridge: false,',
  },
  {
    proof: 'the cable of a pod deleted: the pod gets another sandbox',
    ...aHalfDoneNode,
    file: 'packages/kubelet/node/pod-bridge-plan.ts',
    find: 'lost: cabled.filter(({ hostLink }) => !byName.has(hostLink)).map(({ id }) => id),',
    replace: 'lost: [],',
  },
  {
    proof: 'somebody has the name of the bridge: no pod is Ready, and the node says why',
    ...aHalfDoneNode,
    file: 'packages/kubelet/node/pod-bridge.ts',
    find: 'return this.#failedCount >= failuresMax',
    replace: 'return false',
  },
  {
    proof: `containerd's run directory lost: pods run again, once`,
    ...aHalfDoneNode,
    file: 'packages/kubelet/pods/pod-resources.ts',
    find: `      await killCgroup(cgroups, podCgroupParent(node.nodeName, pod))
`,
    replace: '',
  },
  {
    proof: "the node's copies of its objects lost: nothing is started again",
    ...aHalfDoneNode,
    file: 'packages/kubelet/pods/pod-set.ts',
    find: `    await this.#store.whenSynced(signal)
    this.#mayEndOrphans = true
`,
    replace: `    this.#mayEndOrphans = true
`,
  },
  {
    proof: 'half-done work',
    ...aHalfDoneMachine,
    ...turnedSwitches,
  },
  {
    proof: 'rules, routes, addresses and switches of the kernel are put back',
    ...aHalfDoneMachine,
    ...turnedSwitches,
  },
  {
    proof: 'up says Ready when pods have their network again',
    ...aHalfDoneMachine,
    file: 'roles/up/up.ts',
    find: `      await untilNodeReady(siteAdmin.cluster, waiting, signal)
`,
    replace: '',
  },
  {
    proof: 'a reset that is killed at any step is finished by the next',
    ...aHalfDoneMachine,
    file: 'roles/up/reset.ts',
    find: `  await attempt('mark', () => writeFileDurably(installation.resetMark, ''))
`,
    replace: '',
  },
  {
    proof: 'a reset removes everything that lies beneath mounts of others',
    ...aHalfDoneMachine,
    file: 'roles/up/reset.ts',
    find: `    await removeWithMounts(path)
`,
    replace: `    throw error
`,
  },
  {
    proof: 'a reset that cannot remove everything says what stays',
    ...aHalfDoneMachine,
    file: 'roles/up/reset.ts',
    find: 'if (stays.length + failed.length === 0) return',
    replace: 'if (stays.length + failed.length >= 0) return',
  },
  {
    proof: 'a join that is killed at any step leaves nothing in the way of the next',
    ...twoNodes,
    file: 'packages/bootstrap/join-node.ts',
    find: `  if (known !== undefined) return { server, authorityPem: known }
`,
    replace: `  if (known !== undefined && token)
    throw new ExpectedError('Cannot join: another join was begun', exitCodes.usage)
  if (known !== undefined) return { server, authorityPem: known }
`,
  },
  {
    proof: 'routes to pods of the other node, once deleted, are put back',
    ...twoNodes,
    file: 'packages/service-proxy/network/pod-routes.ts',
    find: 'return plan.routes.every(({ podCidr }) => present.has(podCidr))',
    replace: 'return present.size >= 0',
  },
  {
    proof: 'a node that is cut off keeps serving, and returns without a restart',
    ...twoNodes,
    ...impatientAgent,
  },
  {
    proof: 'goes on while the site is killed',
    test: 'dev/e2e/guestbook.test.ts',
    msMax: 420_000,
    ...impatientAgent,
  },
  {
    proof: 'a reboot while the control plane is away',
    test: 'dev/e2e/offline-reboot.test.ts',
    msMax: 420_000,
    file: 'packages/service-proxy/network/state-file.ts',
    find: `return parse<T>(await readFile(path, 'utf8'), names)`,
    replace: `return void (await readFile(path, 'utf8'))`,
  },
  {
    proof: 'the tour of the README',
    test: 'dev/e2e/readme.test.ts',
    msMax: 320_000,
    file: 'roles/up/user-kubeconfig.ts',
    find: '{ name: clusterName, server:',
    replace: '{ name: `hub-${clusterName}`, server:',
  },
  {
    proof: 'kubectl 1.35 on a site',
    test: 'dev/e2e/kubectl-verbs.test.ts',
    msMax: 420_000,
    file: 'packages/kinds/columns/apps-columns-table.ts',
    find: `{ name: 'Up-to-date', cell: ({ status }) => status?.updatedReplicas ?? 0 },`,
    replace: `{ name: 'Updated', cell: ({ status }) => status?.updatedReplicas ?? 0 },`,
  },
  {
    proof: 'cp of 100 MB there and back',
    test: 'dev/e2e/hub-tunnel.test.ts',
    msMax: 420_000,
    file: 'packages/tunnel/session/tunnel-stream.ts',
    find: 'if (credit > 0 && !this.hasArrived) this.#giveCredit(credit)',
    replace: 'if (credit < 0 && !this.hasArrived) this.#giveCredit(credit)',
  },
  {
    proof: 'two sites with one address, one service range and the same names are two clusters',
    test: 'dev/e2e/sites-with-one-address.test.ts',
    msMax: 220_000,
    file: 'packages/tunnel/hub/tunnel-registry.ts',
    find: 'return this.#sessions.get(identity) ?? []',
    replace: 'return identity ? [...this.#sessions.values()].flat() : []',
  },
  {
    proof: 'a killed agent is back as the same cluster',
    test: 'dev/e2e/tunnel.test.ts',
    msMax: 420_000,
    file: 'roles/agent/agent-identity.ts',
    find: `  const { directory, hub, clusterName } = options
  await ensureDirectory(directory)
`,
    replace: `  const { hub, clusterName } = options
  const directory = \`\${options.directory}-\${process.pid}\`
  await ensureDirectory(directory)
`,
  },
  {
    proof: 'clocks that are years off',
    test: 'dev/e2e/clocks.test.ts',
    msMax: 420_000,
    file: 'packages/bootstrap/time-floor.ts',
    find: '`${known}: it is behind; set the clock`',
    replace: '`${known}: it is ahead; set the clock`',
  },
]

import type { Mutant } from './mutant.ts'

/** The mutants of promises of a node: its pods, its kernel's rules, its files. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'a crash of the agent restarts nothing',
    test: 'packages/kubelet/run/run-kubelet.test.ts',
    file: 'packages/kubelet/node/node-facts.ts',
    find: 'bootId: machine.systemInfo.bootID,',
    replace: 'bootId: `${machine.systemInfo.bootID}${Math.random()}`,',
  },
  {
    proof: 'after a power cut without the API the pods come back; when it returns none restarts',
    test: 'packages/kubelet/run/run-kubelet.test.ts',
    file: 'packages/kubelet/store/object-disk.ts',
    find: `if (!name.endsWith('.json')) continue`,
    replace: 'if (name.length > 0) continue',
  },
  {
    proof:
      'a node whose pods the other control plane lacks stays, and asks again at its next start',
    test: 'roles/node/next-identity.test.ts',
    file: 'roles/node/moved-pods.ts',
    find: '!there.has(pod.metadata.uid)',
    replace: 'there.has(pod.metadata.uid)',
  },
  {
    proof: 'the kernel sends service traffic where the plan says',
    test: 'packages/service-proxy/services/service-table.test.ts',
    file: 'packages/service-proxy/services/endpoint-chains.ts',
    find: 'const index = `numgen random mod ${count}$',
    replace: 'const index = `numgen random mod 1$',
  },
  {
    proof: 'a delta leads to the same table as a whole replacement',
    test: 'packages/service-proxy/services/service-table.test.ts',
    file: 'packages/service-proxy/nftables/nft-table.ts',
    find: 'if (!next.chains.has(name)) lines.push(`delete chain ip ${next.name} ${name}`)',
    replace: 'if (!next.chains.has(name)) continue',
  },
  {
    proof: 'deleted pods leave no process, mount, cgroup or file behind',
    test: 'packages/kubelet/real-node.test.ts',
    shownAs: 'pods on a real containerd',
    msMax: 180_000,
    file: 'packages/kubelet/pods/pod-resources.ts',
    find: `    await rm(podLogDirectory(config, pod), { recursive: true, force: true })
`,
    replace: '',
  },
  {
    proof: 'leaves nothing behind when reset',
    test: 'dev/e2e/up.test.ts',
    msMax: 400_000,
    file: 'roles/up/reset.ts',
    find: `  await deleteLink(podBridge)
`,
    replace: '',
  },
  {
    proof: 'runs as nobody, and writes nothing to its image',
    test: 'dev/e2e/agent-pod.test.ts',
    msMax: 400_000,
    file: 'packages/membership/registration/agent-manifest.ts',
    find: 'readOnlyRootFilesystem: true,',
    replace: 'readOnlyRootFilesystem: false,',
  },
  {
    proof: 'goes on while the node agent is killed',
    test: 'dev/e2e/guestbook.test.ts',
    msMax: 400_000,
    file: 'packages/kubelet/node/node-facts.ts',
    find: 'bootId: machine.systemInfo.bootID,',
    replace: 'bootId: `${machine.systemInfo.bootID}${Math.random()}`,',
  },
  {
    proof: 'goes on while containerd is killed',
    test: 'dev/e2e/guestbook.test.ts',
    msMax: 400_000,
    file: 'packages/kubelet/containerd/supervise-containerd.ts',
    find: 'keepRunning: (scope, onStarted) => child.keepRunning(scope, onStarted),',
    replace: 'keepRunning: async () => {},',
  },
  {
    proof: 'a node that most neighbours see is never given up, and a dead one is in time',
    test: 'packages/controllers/nodes/neighbours-simulation.test.ts',
    file: 'packages/controllers/nodes/standing.ts',
    find: "return verdict?.kind === 'seen' ? 'seen' : 'silent'",
    replace: "return 'silent'",
  },
  {
    proof:
      'one node alone takes nothing from another, and a node that is heard is not dead, whatever all say',
    test: 'packages/controllers/nodes/neighbours.test.ts',
    file: 'packages/controllers/nodes/standing.ts',
    find: 'hasReported && silentMs > suspectMs',
    replace: 'hasReported',
  },
  {
    proof: 'a neighbour is missed if another machine answers in its place',
    test: 'packages/neighbours/ask-neighbour.test.ts',
    file: 'packages/neighbours/ask-neighbour.ts',
    find: 'if (name !== neighbour.name) {',
    replace: 'if (name === undefined) {',
  },
  {
    proof: 'a caller without the certificate of a node of the cluster is nobody',
    test: 'packages/neighbours/ask-neighbour.test.ts',
    file: 'packages/neighbours/neighbour-identity.ts',
    find: ' || !lines.includes(group)',
    replace: '',
  },
]

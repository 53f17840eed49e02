import type { Mutant } from './mutant.ts'

const engine = 'packages/provisioning/engine'
const ensure = 'packages/provisioning/ensure'
const kind = 'packages/provisioning/kind'

/** The mutants of promises about machines that leave an edge cluster. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'the master cordons, drains and deletes the node of a machine that nobody opens',
    test: `${ensure}/leave-node.test.ts`,
    file: `${ensure}/leave-node.ts`,
    find: `  context.record({ isCordoned: true })
`,
    replace: '',
  },
  {
    proof: 'a dead machine is deleted with its pods',
    test: `${ensure}/leave-node.test.ts`,
    file: `${ensure}/leave-node.ts`,
    find: `...(isDead ? ['--with-pods'] : [])`,
    replace: '',
  },
  {
    proof: 'the site is not asked for a machine that has lost its name to another one',
    test: `${ensure}/leave-node.test.ts`,
    file: `${ensure}/leave-node.ts`,
    find: 'if (other !== undefined) return',
    replace: 'if (other?.isDead) return',
  },
  {
    proof:
      'the agent of a node is stopped for this boot and the next; a machine without one is left alone',
    test: `${ensure}/leave-node.test.ts`,
    file: `${ensure}/leave-node.ts`,
    find: `'disable', '--now', `,
    replace: `'stop', `,
  },
  {
    proof: 'a machine that was only looked at has no node, and keeps no name from others',
    test: `${ensure}/node-name.test.ts`,
    file: `${ensure}/node-name.ts`,
    find: 'node === name && isChanged === true',
    replace: 'node === name',
  },
  {
    proof: 'a name of 10.0.0.9 is free once that has left',
    test: `${ensure}/node-name.test.ts`,
    file: `${ensure}/node-name.ts`,
    find: '    if (isLeaving(owner, machines)) throw stillTaken(name, owner)\n',
    replace: '',
  },
  {
    proof: 'a file that somebody has changed stays, and so does its directory',
    test: `${ensure}/copied-files.test.ts`,
    file: `${ensure}/copied-files.ts`,
    find: 'if [ "$found" = "$value" ] && rm',
    replace: 'if rm',
  },
  {
    proof: 'a file that was there before comes back with its permissions',
    test: `${ensure}/copied-files.test.ts`,
    file: `${ensure}/copied-files.ts`,
    find: 'mv -T -- "${replacedPath}/$value" "$path"',
    replace: 'true',
  },
  {
    proof: 'a machine with the state of a node, but without the program, is not taken apart',
    test: `${ensure}/copied-files.test.ts`,
    file: `${ensure}/clean-machine.ts`,
    find: '/settings.json`',
    replace: '/nothing`',
  },
  {
    proof: 'a node loses exactly what it was given',
    test: 'roles/machine/label-node.test.ts',
    file: 'roles/machine/label-node.ts',
    find: 'return !given.some((each) => isSame(each, taint))',
    replace: 'return true',
  },
  {
    proof: 'a label and a taint that somebody has given another value stay',
    test: 'roles/machine/label-node.test.ts',
    file: 'roles/machine/label-node.ts',
    find: ' && present[key] === value) changes',
    replace: ') changes',
  },
  {
    proof:
      'a hub keeps everything of a namespace that is being deleted until its edge clusters are gone',
    test: 'roles/hub/provisioning/namespace-deletion.test.ts',
    file: 'roles/hub/parts/provisioning.ts',
    find: '    endFirst: [edgeClusterResource],\n',
    replace: '',
  },
  {
    proof: 'machines of a namespace that is deleted are cleaned with the logins in it',
    test: 'roles/hub/provisioning/namespace-deletion.test.ts',
    file: 'packages/controllers/namespace/namespace-content.ts',
    find: '      if (rankOf(resource) < early.length && left.length > 0) break\n',
    replace: '',
  },
  {
    proof: 'a machine that is named again is not dead any more',
    test: `${engine}/plan-cluster.test.ts`,
    file: `${engine}/plan-cluster.ts`,
    find: 'const { isDead: _, ...rest } =',
    replace: 'const rest =',
  },
  {
    proof: 'a removal cleans those that leave as well',
    test: `${engine}/plan-cluster.test.ts`,
    file: `${engine}/plan-cluster.ts`,
    find: 'instancesOf(main, [...planned, ...leaving], machines)',
    replace: 'instancesOf(main, planned, machines)',
  },
  {
    proof: 'a machine whose steps are Done and Failed has not left',
    test: `${engine}/plan-cluster.test.ts`,
    file: `${engine}/plan-cluster.ts`,
    find: '(isFinished(step) ? [] :',
    replace: `(isFinished(step) || step.state === 'Failed' ? [] :`,
  },
  {
    proof: 'with a look that is due a cluster is at rest',
    test: `${engine}/plan-cluster.test.ts`,
    file: `${engine}/plan-cluster.ts`,
    find: 'some(({ text }) => !looks.has(text))',
    replace: 'some(({ text }) => text || looks.has(text))',
  },
  {
    proof: 'a machine that the spec does not name any more leaves, is cleaned, and is forgotten',
    test: `${engine}/departure.test.ts`,
    file: `${engine}/edge-cluster-writes.ts`,
    find: '[address, null]',
    replace: '[address, undefined]',
  },
  {
    proof: 'a machine behind the site leaves in the order of the steps, as all others do',
    test: `${engine}/plan-ways.test.ts`,
    file: `${engine}/plan-steps.ts`,
    find: `  if (!instances.some(({ step }) => step.place === 'master')) return [...instances]
`,
    replace: '',
  },
  {
    proof: 'a master whose connection broke in a step for another machine is opened again',
    test: `${engine}/run-steps.test.ts`,
    file: `${engine}/run-steps.ts`,
    find: `step.place === 'master-for-each' || step.place === 'any-master'`,
    replace: `step.place === 'any-master'`,
  },
  {
    proof: 'a machine that is reached through a jump host leaves on the same way',
    test: `${kind}/leaving-machines.test.ts`,
    file: `${kind}/leaving-machines.ts`,
    find: `    ...(jump === undefined ? {} : { jump }),
`,
    replace: '',
  },
  {
    proof: 'it is refused that the only master becomes a node',
    test: `${kind}/leaving-machines.test.ts`,
    file: `${kind}/leaving-machines.ts`,
    find: `role === 'Master' ? [address] : []`,
    replace: `role.length > 3 ? [address] : []`,
  },
  {
    proof: 'a budget that allows nothing keeps its pod, and the error names both; others have left',
    test: 'roles/machine/drain-node.test.ts',
    file: 'roles/machine/drain-node.ts',
    find: `const request = { namespace, name, subresource: 'eviction', body }
    await cluster.resource(resources.pods).createSubresource(request, signal)`,
    replace: `await cluster.resource(resources.pods).delete({ namespace, name, ...body.deleteOptions }, signal)`,
  },
  {
    proof: 'pods leave a node, but for those of DaemonSets and of files; the node gets no others',
    test: 'roles/machine/drain-node.test.ts',
    file: 'roles/machine/drain-node.ts',
    find: `  if (metadata.annotations?.[mirrorAnnotation] !== undefined) return true
`,
    replace: '',
  },
  {
    proof: 'a name is free when its EdgeCluster has gone without its removal; another claim stays',
    test: 'roles/hub/provisioning/edge-cluster-claim-controller.test.ts',
    file: 'roles/hub/provisioning/edge-cluster-claim-controller.ts',
    find: 'if (found?.metadata.uid === uid) return',
    replace: 'if (found?.metadata.uid === uid || found === undefined) return',
  },
  {
    proof:
      'the claim of one that was made again under its name is free, and its cluster stays on the hub',
    test: 'roles/hub/provisioning/edge-cluster-claim-controller.test.ts',
    file: 'roles/hub/provisioning/edge-cluster-claim-controller.ts',
    find: 'if (found?.metadata.uid === uid) return',
    replace: 'if (found?.metadata.name === name) return',
  },
  {
    proof:
      'Secrets that commands have made go with their cluster, but for one that another cluster names',
    test: 'roles/hub/provisioning/edge-cluster-claim-controller.test.ts',
    file: 'roles/hub/provisioning/made-logins.ts',
    find: 'if (!used.has(key.name)) await',
    replace: 'await',
  },
  {
    proof: 'a machine that leaves, and was allowed by a hub of before may not be dialled any more',
    test: `${engine}/plan-dials.test.ts`,
    file: `${ensure}/allow-dial.ts`,
    find: "return isDialled ?? block.via === 'Site'",
    replace: "return isDialled === true && block.via === 'Site'",
  },
  {
    proof: 'the file of a machine on the master lets the site dial it, and goes again',
    test: `${ensure}/allow-dial.test.ts`,
    file: `${ensure}/allow-dial.ts`,
    find: `    await must({ ...context, shell }, ['rm', '-f', '--', dialFile(machine).path])
`,
    replace: '',
  },
  {
    proof: 'a disk is synced only for a step that may have changed it, now or in an attempt before',
    test: `${engine}/run-steps.test.ts`,
    file: `${engine}/run-steps.ts`,
    find: 'isRepeated: isRepeated(before)',
    replace: 'isRepeated: false',
  },
  {
    proof: 'the disk is synced for a step that runs a command',
    test: `${engine}/changed-disks.test.ts`,
    file: `${engine}/changed-disks.ts`,
    find: 'if (options.keepsFiles !== true) change()',
    replace: 'if (options.keepsFiles === false) change()',
  },
  {
    proof: 'a step is done when the machine has its work on disk, and not before',
    test: `${engine}/run-steps.test.ts`,
    file: `${engine}/act-on.ts`,
    find: `  if (step.onlyReads !== true) await disks.outliveCuts(context.signal)
`,
    replace: '',
  },
]

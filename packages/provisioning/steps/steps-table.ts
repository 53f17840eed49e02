import { machinesOf } from '../kind/machine-addresses.ts'
import { isOnEtcd } from '../kind/masters-checks.ts'
import { hasOtherSettings } from '../kind/node-settings.ts'
import { packageInForce } from '../kind/package-in-force.ts'
import type { EdgeCluster, Hook, MachineRole, MachineStatus } from '../kind/edge-cluster.ts'
import { addOnsName, addOnsOf, applyAddOns, hasAddOns } from '../ensure/add-ons.ts'
import {
  configurationOf,
  configureMachine,
  configureName,
  isConfigured,
} from '../ensure/configure-machine.ts'
import { labelNode } from '../ensure/label-node.ts'
import { awaitNode, joinNode } from '../ensure/node.ts'
import { awaitSite, startSite } from '../ensure/site.ts'
import { apiNamesName, apiNamesOf, hasApiNames, setApiNames } from '../ensure/api-names.ts'
import { allowDial, forbidDial, isDiallable } from '../ensure/allow-dial.ts'
import { cleanMachine } from '../ensure/clean-machine.ts'
import { copyPackage } from '../ensure/copy-package.ts'
import { installPackage } from '../ensure/install-package.ts'
import { claimName, forgetCluster } from '../ensure/cluster-name.ts'
import { copyFiles, copyFilesName, hasFiles, runHooks } from '../ensure/hooks.ts'
import { installProgram, prepareMachine } from '../ensure/install-program.ts'
import { awaitMaster, joinMaster, joinWitness } from '../ensure/join-master.ts'
import { moveToEtcd } from '../ensure/move-to-etcd.ts'
import { onOwnMachine } from '../ensure/plan-on-machine.ts'
import { preflight } from '../ensure/preflight.ts'
import { reachMasters } from '../ensure/reach-masters.ts'
import { hasSources, readSources, sourcesOf } from '../ensure/read-sources.ts'
import { hasVirtualIp, setVirtualIp, virtualIpName, virtualIpOf } from '../ensure/virtual-ip.ts'
import type { Step } from '../contract/step.ts'

const hasPackage = (edge: EdgeCluster): boolean => packageInForce(edge) !== undefined
const hooksOf =
  (when: Hook['when']) =>
  ({ spec }: EdgeCluster): readonly Hook[] =>
    (spec.hooks ?? []).filter((hook) => hook.when === when)
const hasHooks =
  (when: Hook['when']) =>
  (edge: EdgeCluster): boolean =>
    hooksOf(when)(edge).length > 0
const isMaster = ({ role }: MachineStatus): boolean => role === 'Master'
const hasMember = ({ role }: { readonly role: MachineRole }): boolean => role !== 'Node'
const joins = ({ role, site }: MachineStatus): boolean =>
  role === 'Master' && (site === 'Joins' || site === 'Removed')
const isWitness = ({ role }: MachineStatus): boolean => role === 'Witness'
const hasNode = ({ role }: MachineStatus): boolean => role !== 'Witness'
const isCleaned = ({ spec }: EdgeCluster): boolean => spec.deletion?.machines !== 'Keep'

/** Every step by which machines become a cluster, in order. */
export const steps: readonly Step[] = [
  {
    name: 'ClaimName',
    does: 'take the name of the cluster on the hub',
    needs: [],
    place: 'hub',
    act: claimName,
  },
  {
    name: 'ReadSources',
    does: 'see that every Secret and ConfigMap is there that the object names; change nothing',
    needs: [],
    place: 'hub',
    applies: hasSources,
    onlyReads: true,
    input: ({ spec }) => sourcesOf(spec),
    act: readSources,
  },
  {
    name: 'Connect',
    does: 'log in over SSH, check the host key, become root',
    needs: [],
    place: 'machines',
    onlyReads: true,
    act: async ({ machine, shell }) =>
      `${machine.user} on ${machine.address}, host key ${shell.hostKey}`,
  },
  {
    name: 'Preflight',
    does: 'check system, kernel, memory, disk, clock, ports, names, routes, firewall and left-overs; change nothing',
    needs: ['Connect'],
    place: 'machines',
    onlyReads: true,
    act: preflight,
  },
  {
    name: 'ReachMasters',
    does: 'see that the masters reach each other in time, and that their clocks agree; change nothing',
    needs: ['Preflight'],
    place: 'machines',
    applies: ({ spec }) => isOnEtcd(spec) && machinesOf(spec).filter(hasMember).length > 1,
    appliesTo: hasMember,
    onlyReads: true,
    act: reachMasters,
  },
  {
    name: configureName,
    does: 'write the proxy and the mirrors of registries',
    needs: ['Preflight'],
    place: 'machines',
    applies: isConfigured,
    input: configurationOf,
    changesMachine: true,
    act: onOwnMachine(configureMachine),
  },
  {
    name: copyFilesName,
    does: 'copy the files of spec.files, and take back those that are not in it any more',
    needs: ['Preflight'],
    place: 'machines',
    applies: hasFiles,
    input: ({ spec }) => spec.files,
    changesMachine: true,
    act: onOwnMachine(copyFiles),
  },
  {
    name: 'BeforeInstall',
    does: 'run the scripts of spec.hooks that come before the installation',
    needs: ['Preflight'],
    place: 'machines',
    applies: hasHooks('BeforeInstall'),
    input: hooksOf('BeforeInstall'),
    onlyMakes: true,
    changesMachine: true,
    act: onOwnMachine(runHooks('BeforeInstall')),
  },
  {
    name: 'CopyPackage',
    does: 'copy the files of the offline package that the machine lacks',
    needs: ['Preflight'],
    place: 'machines',
    applies: hasPackage,
    input: ({ spec }) => spec.package,
    changesMachine: true,
    act: onOwnMachine(copyPackage),
  },
  {
    name: 'InstallProgram',
    does: 'copy the program, and see that it starts',
    needs: ['Preflight'],
    place: 'machines',
    changesMachine: true,
    act: onOwnMachine(installProgram),
  },
  {
    name: 'InstallPackage',
    does: 'check the offline package on the machine, and install its packages and images',
    needs: ['CopyPackage', 'InstallProgram'],
    place: 'machines',
    applies: hasPackage,
    input: ({ spec }) => spec.package,
    changesMachine: true,
    act: installPackage,
  },
  {
    name: 'PrepareMachine',
    does: 'install packages and units, load kernel modules, set switches for every boot',
    needs: ['InstallProgram'],
    place: 'machines',
    changesMachine: true,
    act: prepareMachine,
  },
  {
    name: 'StartSite',
    does: 'start the control plane with a token for the hub',
    needs: ['PrepareMachine'],
    place: 'master',
    changesMachine: true,
    act: startSite,
  },
  {
    name: 'SiteReady',
    does: 'wait until the hub reaches the cluster',
    needs: ['StartSite'],
    place: 'master',
    act: awaitSite,
  },
  {
    name: 'MoveToEtcd',
    does: 'let the site run an etcd of its own; objects in a file move there',
    needs: ['SiteReady'],
    place: 'master',
    applies: ({ spec }) => isOnEtcd(spec),
    act: moveToEtcd,
  },
  {
    name: 'JoinMaster',
    does: 'start the control plane of a further master, and wait until its etcd votes',
    needs: ['PrepareMachine', 'SiteReady'],
    place: 'machines',
    appliesTo: joins,
    inTurn: true,
    changesMachine: true,
    act: joinMaster,
  },
  {
    name: 'JoinWitness',
    does: 'start the etcd of a witness, and wait until it votes',
    needs: ['PrepareMachine', 'SiteReady'],
    place: 'machines',
    appliesTo: isWitness,
    inTurn: true,
    changesMachine: true,
    act: joinWitness,
  },
  {
    name: 'MasterReady',
    does: 'wait until a further master serves and its agent has registered at the hub',
    needs: ['JoinMaster'],
    place: 'machines',
    appliesTo: joins,
    act: awaitMaster,
  },
  {
    name: apiNamesName,
    does: 'give the site the names of spec.apiNames and of the address before the masters, and start it again if they are others; pods go on running',
    needs: ['SiteReady', 'MasterReady'],
    place: 'machines',
    applies: hasApiNames,
    appliesTo: isMaster,
    inTurn: true,
    input: apiNamesOf,
    act: setApiNames,
  },
  {
    name: virtualIpName,
    does: 'let a master that is ready hold the virtual IP',
    needs: ['SiteReady', 'MasterReady'],
    place: 'machines',
    applies: hasVirtualIp,
    appliesTo: isMaster,
    input: virtualIpOf,
    changesMachine: true,
    act: setVirtualIp,
  },
  {
    name: 'AllowDial',
    does: "let the site's agent dial a machine that only the site reaches",
    needs: ['SiteReady'],
    place: 'master-for-each',
    appliesTo: (_status, { block }) => block.via === 'Site',
    act: allowDial,
  },
  {
    name: 'ForbidDial',
    does: 'take a machine that is reached on another way now from those that the agent may dial',
    needs: ['SiteReady'],
    place: 'master-for-each',
    appliesTo: ({ isDialled }, { block }) => isDialled === true && block.via !== 'Site',
    act: forbidDial,
  },
  {
    name: 'JoinNode',
    does: 'start the node with a token of the site',
    needs: ['PrepareMachine', 'SiteReady'],
    place: 'machines',
    appliesTo: hasNode,
    changesMachine: true,
    act: joinNode,
  },
  {
    name: 'NodeReady',
    does: 'wait until the node runs pods',
    needs: ['JoinNode'],
    place: 'machines',
    appliesTo: hasNode,
    act: awaitNode,
  },
  {
    name: 'LabelNode',
    does: 'give the node the labels and taints of its block if they were changed, and take back the former ones',
    needs: ['NodeReady'],
    place: 'machines',
    appliesTo: hasOtherSettings,
    input: ({ spec }) => spec.machines.map(({ labels, taints }) => [labels, taints]),
    act: labelNode,
  },
  {
    name: addOnsName,
    does: 'apply the manifests of spec.addons, and remove objects that are gone from them',
    needs: ['SiteReady'],
    place: 'any-master',
    applies: hasAddOns,
    input: addOnsOf,
    act: applyAddOns,
  },
  {
    name: 'AfterInstall',
    does: 'run the scripts of spec.hooks that come after the installation',
    needs: ['NodeReady'],
    place: 'machines',
    applies: hasHooks('AfterInstall'),
    input: hooksOf('AfterInstall'),
    onlyMakes: true,
    changesMachine: true,
    act: runHooks('AfterInstall'),
  },
]

/** Every step by which a cluster is taken away, in order. */
export const removal: readonly Step[] = [
  {
    name: 'CleanMachine',
    does: 'stop the roles and remove everything of them',
    needs: [],
    place: 'machines',
    applies: isCleaned,
    endsSite: true,
    appliesTo: ({ isChanged, isDead }) => isChanged === true && isDead !== true,
    act: cleanMachine,
  },
  {
    name: 'ForbidDial',
    does: 'take the machine from those that the agent of the site may dial',
    needs: [],
    place: 'master-for-each',
    // A master that is cleaned loses them with everything else.
    applies: (edge) => !isCleaned(edge),
    appliesTo: isDiallable,
    act: forbidDial,
  },
  {
    name: 'ForgetCluster',
    does: 'remove the cluster and the rights of its agent from the hub',
    needs: ['CleanMachine'],
    place: 'hub',
    endsSite: true,
    act: forgetCluster,
  },
]

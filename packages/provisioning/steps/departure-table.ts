import { forbidDial, isDiallable } from '../ensure/allow-dial.ts'
import { cleanMachine } from '../ensure/clean-machine.ts'
import { cordonNode, deleteNode, drainNode, stopNode } from '../ensure/leave-node.ts'
import { checkQuorum, removeMember } from '../ensure/remove-member.ts'
import type { MachineStatus } from '../kind/edge-cluster.ts'
import type { Step } from '../contract/step.ts'

const hasNode = ({ node, role }: MachineStatus): boolean => node !== undefined && role !== 'Witness'
const isMember = ({ role }: MachineStatus): boolean => role !== 'Node'
const answers = ({ isDead }: MachineStatus): boolean => isDead !== true
const hasLivingNode = (status: MachineStatus): boolean => hasNode(status) && answers(status)

/** Every step by which a machine leaves a cluster that goes on without it, in order. */
export const departure: readonly Step[] = [
  {
    name: 'CheckQuorum',
    does: 'see that the etcd of the masters can decide without its vote; change nothing',
    needs: [],
    place: 'master-for-each',
    appliesTo: isMember,
    act: checkQuorum,
  },
  {
    name: 'CordonNode',
    does: 'keep further pods off the node',
    needs: [],
    place: 'master-for-each',
    appliesTo: hasNode,
    act: cordonNode,
  },
  {
    name: 'DrainNode',
    does: 'move pods off the node as far as their disruption budgets permit',
    needs: ['CordonNode'],
    place: 'master-for-each',
    appliesTo: hasLivingNode,
    act: drainNode,
  },
  {
    name: 'StopNode',
    does: 'end the agent of the node, which would register again',
    needs: ['DrainNode'],
    place: 'machines',
    appliesTo: hasLivingNode,
    act: stopNode,
  },
  {
    name: 'DeleteNode',
    does: 'remove the node from the cluster',
    needs: ['StopNode'],
    place: 'master-for-each',
    appliesTo: hasNode,
    act: deleteNode,
  },
  {
    name: 'RemoveMember',
    does: 'take its vote in the etcd of the masters, unless the others could not decide without it',
    needs: ['DeleteNode'],
    place: 'master-for-each',
    appliesTo: isMember,
    inTurn: true,
    act: removeMember,
  },
  {
    name: 'CleanMachine',
    does: 'stop the roles and remove everything of them',
    needs: ['DeleteNode', 'RemoveMember'],
    place: 'machines',
    appliesTo: answers,
    act: cleanMachine,
  },
  {
    name: 'ForbidDial',
    does: 'take the machine from those that the agent of the site may dial',
    // The cleaning comes through the site.
    needs: ['CleanMachine'],
    place: 'master-for-each',
    appliesTo: isDiallable,
    act: forbidDial,
  },
]

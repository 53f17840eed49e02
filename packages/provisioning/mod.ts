/**
 * provisioning: makes edge clusters of machines that have an operating system and SSH, and takes them away again.
 * The steps are a table; the engine, which knows none of them, keeps its whole state in the object's status.
 * Start reading at steps-table.ts, then engine/run-steps.ts.
 */
export { edgeClusterController } from './engine/edge-cluster-controller.ts'
export {
  StepError,
  type HubSide,
  type JoinToken,
  type OwnMachineContext,
  type ProgramFiles,
} from './contract/step.ts'
export { type RunOptions, type RunResult, type Shell, ShellError } from './contract/shell.ts'
export { addressOf, places } from './ensure/commands.ts'
export { nodeNameOf } from './ensure/install-program.ts'
export { startNode } from './ensure/node.ts'
export { preflightOfOwn } from './ensure/preflight.ts'
export { startSiteOf } from './ensure/site.ts'
export { Redactor } from './engine/redactor.ts'
export { machinesOnly } from './shell/machines-only.ts'
export { sshShells } from './shell/ssh-shell.ts'
export { removal, steps } from './steps/steps-table.ts'
export { loginKeys } from './shell/login-of-secret.ts'
export {
  type EdgeCluster,
  type MachineBlock,
  type StepStatus,
  edgeClusterAsks,
  edgeClusterResource,
  stepLogName,
  stepText,
} from './kind/edge-cluster.ts'
export { edgeClusterKind } from './kind/edge-cluster-kind.ts'
export { machineBlockCauses } from './kind/edge-cluster-checks.ts'
export { networkSizeOf } from './kind/network-size.ts'
export { expandAddresses, machinesOf } from './kind/machine-addresses.ts'
export { edgeNetworkDefaults } from './limits-table.ts'

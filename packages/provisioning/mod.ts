/**
 * provisioning: makes edge clusters of machines that have an operating system and SSH, and takes them away again.
 * The steps are a table; the engine, which knows none of them, keeps its whole state in the object's status.
 * Start reading at steps-table.ts, then engine/run-steps.ts.
 */
export { edgeClusterController } from './engine/edge-cluster-controller.ts'
export { StepError, type HubSide, type ProgramFiles } from './contract/step.ts'
export { machinesOnly } from './shell/machines-only.ts'
export { sshShells } from './shell/ssh-shell.ts'
export { removal, steps } from './steps/steps-table.ts'
export { departure } from './steps/departure-table.ts'
export { takeBackFilesScript } from './ensure/copied-files.ts'
export { withoutAddress } from './kind/without-address.ts'
export { loginKeys } from './shell/login-of-secret.ts'
export {
  type EdgeCluster,
  type MachineBlock,
  type MachineStatus,
  type MachineTaint,
  type StepStatus,
  edgeClusterAsks,
  edgeClusterResource,
  loginSecretLabel,
  stepLogName,
  stepText,
} from './kind/edge-cluster.ts'
export { edgeClusterKind } from './kind/edge-cluster-kind.ts'
export { machineBlockCauses } from './kind/edge-cluster-checks.ts'
export { networkSizeOf } from './kind/network-size.ts'
export { expandAddresses, machinesOf } from './kind/machine-addresses.ts'
export { edgeNetworkDefaults } from './limits-table.ts'

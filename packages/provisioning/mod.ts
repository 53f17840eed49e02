/**
 * provisioning: makes edge clusters of machines that have an operating system and SSH, and takes them away again.
 * The steps are a table; the engine, which knows none of them, keeps its whole state in the object's status.
 * Start reading at steps/steps-table.ts, then engine/run-steps.ts.
 */
export { edgeJobController } from './engine/edge-job-controller.ts'
export { edgeJobClusterController } from './engine/edge-job-cluster-controller.ts'
export { jobSteps } from './steps/job-steps-table.ts'
export { edgeJobKinds } from './kind/edge-job-kind.ts'
export {
  type EdgeJob,
  type EdgeJobCluster,
  type EdgeJobSpec,
  edgeJobAsks,
  edgeJobClusterName,
  edgeJobClusterResource,
  edgeJobResource,
  jobText,
} from './kind/edge-job.ts'
export { edgeClusterController } from './engine/edge-cluster-controller.ts'
export type { ImportedState, ImportSide, JoinSecret } from './contract/import-side.ts'
export {
  StepError,
  type HubSide,
  type JoinToken,
  type OwnMachineContext,
  type ProgramFiles,
  type ProgramWish,
} from './contract/step.ts'
export { type OwnShell, type RunOptions, type RunResult, ShellError } from './contract/shell.ts'
export type { ClusterDial } from './contract/ways.ts'
export { addressOf, places } from './ensure/commands.ts'
export { readSystem } from './ensure/copy-package.ts'
export { nodeNameOf } from './ensure/node-name.ts'
export { startNode } from './ensure/node.ts'
export { preflightOfOwn } from './ensure/preflight.ts'
export { proxyFiles, proxyTexts } from './ensure/proxy.ts'
export { apiPortDefault } from './kind/made-masters.ts'
export { startSiteOf } from './ensure/site.ts'
export { syncDisk } from './shell/sync-disk.ts'
export { ifSame } from './engine/if-same.ts'
export { Redactor } from './engine/redactor.ts'
export type { MachinePackage, MachineSystem } from './contract/machine-package.ts'
export { offlineAptScript } from './ensure/offline-apt.ts'
export { machinesOnly } from './shell/machines-only.ts'
export { sshJumps } from './shell/ssh-jumps.ts'
export { sshShells } from './shell/ssh-shell.ts'
export { importRemoval, importSteps } from './steps/import-steps-table.ts'
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
  clusterNameOfEdge,
  edgeClusterAsks,
  edgeClusterResource,
  loginSecretLabel,
  stepLogName,
  stepText,
} from './kind/edge-cluster.ts'
export type { BlockWay, JumpHost } from './kind/block-way.ts'
export { jumpsOf, jumpText } from './kind/edge-cluster-ways.ts'
export { pausedBy, pausePatch } from './kind/pause.ts'
export { skippableHubSteps } from './kind/step-names-table.ts'
export { isLook } from './engine/plan-steps.ts'
export { packageInForce } from './kind/package-in-force.ts'
export { isImport } from './kind/edge-cluster-import.ts'
export { edgeClusterKind } from './kind/edge-cluster-kind.ts'
export { configurationPatch } from './kind/role-options.ts'
export { machineBlockCauses } from './kind/edge-cluster-checks.ts'
export { networkSizeOf } from './kind/network-size.ts'
export { expandAddresses, machinesOf } from './kind/machine-addresses.ts'
export { edgeNetworkDefaults } from './limits-table.ts'

/**
 * kubelet: the node agent. It takes the pods bound to its node from the API (or, offline, from its own disk),
 * runs them on containerd through the container runtime interface, and reports their state. It schedules
 * nothing and never touches another node. Start reading at run/run-kubelet.ts, then plan/plan-pod.ts
 * (decides) and pods/pod-worker.ts (carries out).
 */
export { dialContainerd } from './cri/dial-containerd.ts'
export type { ContainerRuntime, RegistryAuth } from './cri/container-runtime.ts'
export {
  superviseContainerd,
  type ContainerdOptions,
  type SupervisedContainerd,
} from './containerd/supervise-containerd.ts'
export { detachMounts, removeWithMounts } from './mounts/detach-mounts.ts'
export { endForgottenShims, endNodeProcesses } from './containerd/end-node-processes.ts'
export { stopSandbox } from './cri/stop-sandbox.ts'
export { importImage, type ImportOptions } from './images/import-image.ts'
export { ensurePauseImage, pauseImage } from './images/pause-image.ts'
export {
  contentDigest,
  imageDocuments,
  imageLayerOfFiles,
  imageLayerOfTar,
  imageManifestType,
  ociArchive,
  type ImageConfig,
  type ImageLayer,
  type ImageOptions,
  type LayerFile,
} from './images/oci-archive.ts'
export { pullCredentials } from './images/pull-credentials.ts'
export type { LeaseNotes } from './node/node-agent.ts'
export { runKubelet, type RunningKubelet } from './run/run-kubelet.ts'
export { createCallerCheck } from './server/caller-check.ts'
export {
  createInnerServer,
  startKubeletServer,
  type InnerServer,
  type KubeletServer,
  type NeighbourAnswers,
  type ServerTls,
} from './server/kubelet-server.ts'
export { logBytesMax } from './limits-table.ts'
export { runLogRotation, type RunningLog } from './logs/rotate-logs.ts'
export { readHeldPods, type HeldPod } from './store/held-pods.ts'
export { readStoredNode, removeStoredTokens, type StoredNode } from './store/stored-node.ts'
export { runLocalPathVolumes } from './local-path/local-path-volumes.ts'

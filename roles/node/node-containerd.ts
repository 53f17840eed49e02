import { join } from 'node:path'
import { pauseImage, type ContainerdOptions } from '@skerry/kubelet'

/** Returns the paths of a node's containerd, on which the node, `image` and `reset` must agree. */
export function containerdOptions(nodeDir: string, runDir: string): ContainerdOptions {
  return {
    dataDirectory: join(nodeDir, 'containerd'),
    runDirectory: join(runDir, 'containerd'),
    cniConfDirectory: join(runDir, 'cni'),
    cniBinDirectory: cniPluginDirectory(nodeDir),
    registryDirectory: join(nodeDir, 'registries'),
    sandboxImage: pauseImage,
  }
}

export function containerdSocket(runDir: string): string {
  return join(runDir, 'containerd', 'containerd.sock')
}

/** Returns the directory of network plugins: links to the system's, and the node's own. */
export function cniPluginDirectory(nodeDir: string): string {
  return join(nodeDir, 'cni')
}

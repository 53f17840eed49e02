import { join } from 'node:path'
import { pauseImage, type ContainerdOptions } from '@skerry/kubelet'

/** One place for where a node's containerd lives: the node, `image` and `reset` must agree. */
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

/** Network plugins: links to the system's, and the node's own. */
export function cniPluginDirectory(nodeDir: string): string {
  return join(nodeDir, 'cni')
}

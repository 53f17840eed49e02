import { createHash } from 'node:crypto'
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

/**
 * Returns a digest of the proxies that containerd inherits, by which a node sees that a running one has others;
 * undefined if there are none. The values may hold a password.
 */
export function proxyMark(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']
  const values = names.map((name) => environment[name] ?? '')
  if (values.every((value) => value === '')) return undefined
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 16)
}

export function containerdSocket(runDir: string): string {
  return join(runDir, 'containerd', 'containerd.sock')
}

/** Returns the directory of network plugins: links to the system's, and the node's own. */
export function cniPluginDirectory(nodeDir: string): string {
  return join(nodeDir, 'cni')
}

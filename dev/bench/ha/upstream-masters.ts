import { access, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { etcdPkiDirectory, etcdPkiPaths } from '@skerry/bootstrap'
import { RoleProcess } from '../../e2e/role-process.ts'
import {
  apiServerFlags,
  argumentsOf,
  kubeconfigFor,
  writeServerFiles,
} from '../measure/api-subject.ts'
import type { BundledMaster } from './bundled-masters.ts'

const port = 16_443

/** A kube-apiserver on the host of one of our masters, at its own member of their etcd. */
export interface UpstreamMaster {
  readonly kubeconfig: string
  readonly isRunning: () => boolean
  /** Returns the end of its log. */
  readonly lastWords: () => Promise<string>
}

export interface UpstreamMasters extends AsyncDisposable {
  readonly each: readonly UpstreamMaster[]
}

const lastWordsBytes = 2_000

/** Returns true if dev/hack/upstream has built it. */
export async function hasUpstream(binaries: string): Promise<boolean> {
  return access(join(binaries, 'kube-apiserver')).then(
    () => true,
    () => false,
  )
}

/** The servers are started and may not serve yet. */
export async function startUpstreamMasters(
  binaries: string,
  masters: readonly BundledMaster[],
  directory: string,
): Promise<UpstreamMasters> {
  await using stack = new AsyncDisposableStack()
  const shared = join(directory, 'upstream')
  await mkdir(shared, { recursive: true })
  await writeServerFiles(shared)
  const each: UpstreamMaster[] = []
  for (const { host, dataDir } of masters) {
    const own = join(directory, `upstream-${host.name}`)
    await mkdir(own)
    for (const name of ['sa.key', 'sa.pub', 'tokens.csv']) {
      await copyFile(join(shared, name), join(own, name))
    }
    const pki = etcdPkiDirectory(join(dataDir, 'pki'))
    const client = etcdPkiPaths(pki, 'client')
    const flags = {
      ...apiServerFlags(own, { etcd: 'https://127.0.0.1:2379', address: host.address, port }),
      'etcd-cafile': etcdPkiPaths(pki, 'ca').certificatePath,
      'etcd-certfile': client.certificatePath,
      'etcd-keyfile': client.keyPath,
    }
    const command = [join(binaries, 'kube-apiserver'), ...argumentsOf(flags)]
    const logFile = join(own, 'kube-apiserver.log')
    const role = new RoleProcess({ host, name: 'kube-apiserver', command, logFile })
    await role.start()
    stack.defer(() => role.kill())
    const kubeconfig = join(own, 'kubeconfig')
    await writeFile(kubeconfig, kubeconfigFor(`https://${host.address}:${port}`), { mode: 0o600 })
    const lastWords = async () => (await readFile(logFile, 'utf8')).slice(-lastWordsBytes)
    each.push({ kubeconfig, isRunning: () => role.isRunning, lastWords })
  }
  const owned = stack.move()
  return { each, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

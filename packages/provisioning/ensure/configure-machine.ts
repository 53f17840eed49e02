import { posix } from 'node:path'
import type { EdgeCluster } from '../kind/edge-cluster.ts'
import { provisioningBounds } from '../limits-table.ts'
import type { MachineContext } from '../contract/step.ts'
import { must } from './commands.ts'
import { proxyFiles, readProxyTexts } from './proxy.ts'
import { hostsFiles, registryDirectory } from './registries.ts'
import { applySettings, restartSite } from './restart-site.ts'

/** The name of the step, by which it knows that it has been done before. */
export const configureName = 'ConfigureMachine'

/** Returns true if the object asks for a proxy or mirrors, or has asked for them before. */
export function isConfigured({ spec, status }: EdgeCluster): boolean {
  if (spec.proxy !== undefined || (spec.registries ?? []).length > 0) return true
  return (status?.steps ?? []).some(({ name }) => name === configureName)
}

export function configurationOf({ spec }: EdgeCluster): unknown {
  return [spec.proxy, spec.registries]
}

/** Writes the proxy and the mirrors of registries. Units that run already are started again if the proxy is another. */
export async function configureMachine(context: MachineContext): Promise<string> {
  const { edge, shell } = context
  const { environment, apt } = await readProxyTexts(context)
  const before = await textOf(proxyFiles.environment, context)
  await applySettings(context, {
    isNew: settingsIn(before) !== settingsIn(environment),
    async write() {
      await shell.write(proxyFiles.environment, environment, 0o600)
      await shell.write(proxyFiles.apt, apt, 0o600)
      await writeRegistries(context)
    },
    restart: () => restartUnits(context),
  })
  const { proxy, registries = [] } = edge.spec
  const { httpProxy, httpsProxy } = proxy ?? {}
  const used = [...new Set([httpProxy, httpsProxy])].filter((url) => url !== undefined)
  const ways = used.length === 0 ? 'no proxy' : `proxy ${used.join(' and ')}`
  return `${ways}, mirrors of ${registries.length} registries`
}

/** Returns the content of a file, or nothing if there is none. It is not printed: it may hold a password. */
async function textOf(path: string, { shell, signal }: MachineContext): Promise<string> {
  const { exitCode, stdout } = await shell.run(['cat', path], { signal, keepsFiles: true })
  return exitCode === 0 ? stdout : ''
}

/** A file that is missing and one without a proxy mean the same. */
function settingsIn(text: string): string {
  return text.replaceAll(/^#.*\n/gm, '')
}

async function writeRegistries(context: MachineContext): Promise<void> {
  const { edge, shell, signal } = context
  const files = hostsFiles(edge.spec.registries ?? [])
  for (const { path, content } of files) await shell.write(path, content, 0o644)
  const { exitCode, stdout } = await shell.run(['ls', '-A', registryDirectory], {
    signal,
    keepsFiles: true,
  })
  if (exitCode !== 0) return
  const wanted = new Set(files.map(({ directory }) => directory))
  for (const name of stdout.split('\n')) {
    // The machine prints what it likes; a name with a slash would lead elsewhere.
    if (name === '' || name.includes('/') || name === '..' || wanted.has(name)) continue
    await must(context, ['rm', '-rf', '--', posix.join(registryDirectory, name)])
  }
}

async function restartUnits(context: MachineContext): Promise<void> {
  const timeoutMs = provisioningBounds.steps.startMsMax
  if (await isActive('skerry-site', context)) await restartSite(context)
  if (!(await isActive('skerry-node', context))) return
  await must(context, ['systemctl', 'restart', 'skerry-node'], { timeoutMs })
}

async function isActive(unit: string, { shell, signal }: MachineContext): Promise<boolean> {
  const command = ['systemctl', 'is-active', '--quiet', unit] as const
  return (await shell.run(command, { signal, keepsFiles: true })).exitCode === 0
}

import { ExpectedError, exitCodes } from '@skerry/base'
import { formatKubeconfig } from '@skerry/client'
import { clientKubeconfig } from '../../runtime/kubeconfig-file.ts'
import { findInstallation } from '../../up/find-installation.ts'
import { contextsOf, hubIdentity } from '../../up/user-kubeconfig.ts'
import { printHubKubeconfig, writeHubKubeconfig } from '../kubeconfig/hub-kubeconfig.ts'
import { siteKubeconfig } from '../kubeconfig/site-kubeconfig.ts'
import { loginDeps } from './login-deps.ts'
import { loginForHub } from './login.ts'

export interface KubeconfigFlags {
  dataDir: string
  hub: string | undefined
  siteDir: string | undefined
  caFile: string | undefined
  tokenFile: string | undefined
  clientCertificate: string | undefined
  clientKey: string | undefined
  renew: boolean | undefined
  outputFile: string | undefined
  hostNames: boolean | undefined
  prefix: string
}

/** Prints or writes a kubeconfig for a hub, for a site, or for the installation on this machine. Throws ExpectedError. */
export async function printKubeconfig(
  { hub, siteDir, ...options }: KubeconfigFlags,
  signal: AbortSignal,
): Promise<void> {
  if (siteDir !== undefined) return printOfSite({ siteDir, hub, ...options }, signal)
  if (hub === undefined) return printOwn(options)
  const { outputFile, renew } = options
  const deps = loginDeps()
  const login = await loginForHub(hub, deps)
  const asked = { ...options, hub, login, ...(renew === true ? { renewBy: deps.command } : {}) }
  if (outputFile === undefined) await printHubKubeconfig(asked, signal)
  else await writeHubKubeconfig({ ...asked, outputFile }, signal)
}

async function printOfSite(
  { siteDir, dataDir: _dataDir, ...forHub }: KubeconfigFlags & { siteDir: string },
  signal: AbortSignal,
): Promise<void> {
  requireNone(forHub, '--site-dir goes with no other option')
  process.stdout.write(await siteKubeconfig(siteDir, signal))
}

/** Prints the kubeconfig of this machine's installation, for its administrator. */
async function printOwn({
  dataDir,
  ...forHub
}: Omit<KubeconfigFlags, 'hub' | 'siteDir'>): Promise<void> {
  requireNone(forHub, 'all options but --data-dir need --hub, the hub to ask')
  const { installation, settings } = await findInstallation(dataDir)
  process.stdout.write(
    formatKubeconfig(clientKubeconfig(contextsOf(settings), await hubIdentity(installation))),
  )
}

/** Throws ExpectedError if one of the options is given. */
function requireNone(options: object, why: string): void {
  if (!Object.values(options).some((value) => value !== undefined && value !== '')) return
  throw new ExpectedError(`Cannot write kubeconfig: ${why}`, exitCodes.usage)
}

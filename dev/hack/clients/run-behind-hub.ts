import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { skerryCommand, skerryEnv } from '../../e2e/role-process.ts'
import { waitFor } from '../../e2e/wait-for.ts'
import { mustRun, runIn } from './client-plan.ts'
import { startRole, startSite, type RunningSite } from './run-site.ts'

const clusterName = 'edge'

/** A site as startSite() makes it, reached through a hub and an agent: the kubeconfig leads there. */
export async function startBehindHub(directory: string): Promise<RunningSite> {
  await using stack = new AsyncDisposableStack()
  const site = stack.use(await startSite(directory))
  const hubDirectory = join(directory, 'hub')
  const address = ['--bind-address', '127.0.0.1', '--port', '0']
  const hub = stack.use(await startRole(directory, ['hub', '--data-dir', hubDirectory, ...address]))
  const admin = await hub.untilWritten(join(hubDirectory, 'admin.kubeconfig'))
  const server = /server: (\S+)/.exec(admin)?.[1] ?? ''
  const asked = ['cluster', 'join-command', clusterName, '--server', server, '-o', 'json']
  const printed = await mustRun([...skerryCommand, ...asked, '--data-dir', hubDirectory], {
    env: { ...skerryEnv },
  })
  const { token, caHash } = JSON.parse(printed)
  const tokenFile = join(directory, 'agent.token')
  await writeFile(tokenFile, token, { mode: 0o600 })
  const toHub = ['--hub', server, '--name', clusterName, '--ca-hash', caHash]
  const own = ['--token-file', tokenFile, '--data-dir', join(directory, 'agent')]
  stack.use(
    await startRole(directory, ['agent', ...toHub, ...own, '--kubeconfig', site.kubeconfig]),
  )
  const kubeconfig = join(directory, 'behind-hub.kubeconfig')
  const through = `${server}/clusters/${clusterName}`
  await writeFile(kubeconfig, admin.replace(server, through), { mode: 0o600 })
  await waitFor('the tunnel to open', () => answers(hubDirectory))
  const owned = stack.move()
  return { ...site, kubeconfig, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Returns true once the hub reports that the tunnel of its only cluster is open. */
async function answers(hubDirectory: string): Promise<true | undefined> {
  const asked = ['cluster', 'list', '-o', 'json', '--data-dir', hubDirectory]
  const { stdout } = await runIn([...skerryCommand, ...asked], { env: { ...skerryEnv } })
  return JSON.parse(stdout)[0]?.tunnel === 'open' || undefined
}

import type { ForMachineContext } from '../contract/step.ts'
import { applySettings } from './restart-site.ts'
import { untilServed } from './serving-site.ts'
import { startUnit } from './site.ts'
import { envText, etcdWords, readSiteWords, siteOptionsFile } from './site-options.ts'

/** Lets the site of the only master run its own etcd. A store in a file moves there when it starts. */
export async function moveToEtcd(context: ForMachineContext): Promise<string> {
  const { machine, record } = context
  const own = { ...context, shell: await context.shellOf(machine) }
  const { name, words } = await etcdWords(own)
  const before = await readSiteWords(own)
  const isNew = !before.includes('--etcd')
  await applySettings(own, {
    isNew,
    async write() {
      if (isNew) await own.shell.write(siteOptionsFile, envText([...before, ...words]), 0o600)
    },
    restart: () => startUnit('skerry-site', own),
  })
  await untilServed(own)
  record({ member: name })
  return `the site of ${machine.address} keeps its objects in etcd`
}

import { ExpectedError, exitCodes } from '@skerry/base'
import { ifThere, resources } from '@skerry/client'
import { isImport, type EdgeCluster } from '@skerry/provisioning'
import { stopSignal } from '../../runtime/role-context.ts'
import {
  namespaceWords,
  openEdge,
  readEdge,
  soon,
  toldPlainly,
  type EdgeOptions,
} from './edge-cluster-access.ts'
import { followEdge, printerOf, processOutput } from './edge-cluster-watch.ts'

export interface ImportOptions extends EdgeOptions {
  displayName: string | undefined
  hubServer: string | undefined
  applyWorks: boolean | undefined
  allowService: string[]
  allowDial: string[]
  image: string | undefined
  wait: boolean
  dryRun: boolean | undefined
}

/**
 * Makes an EdgeCluster for a cluster that exists, prints the line that connects it, and follows. One that was made
 * before is followed again. Throws an ExpectedError.
 */
export async function importEdgeCluster(options: ImportOptions): Promise<void> {
  const { name, namespace, output } = options
  await toldPlainly(`import edge cluster ${name}`, async () => {
    const access = await openEdge(options)
    const known = await ifThere(access.client.get(access.key, soon()))
    if (known !== undefined && !isImport(known)) {
      const text = `Cannot import edge cluster ${name}: there is one of that name that was made of machines`
      throw new ExpectedError(text, exitCodes.usage)
    }
    if (known === undefined || options.dryRun) {
      const isDryRun = options.dryRun === true
      const made = await access.client.create(importOf(options), soon(), { isDryRun })
      if (isDryRun) return printChecked(made, output)
    }
    if (output !== 'json') {
      const place = namespaceWords(namespace)
      console.log('Run this where kubectl reaches the cluster and this program the hub:')
      console.log(
        `  skerry edge-cluster join-manifest ${name}${place} | kubectl --context <cluster> apply -f -`,
      )
    }
    if (options.wait) return followEdge(access, printerOf(output, processOutput()), stopSignal())
    if (output === 'json') console.log(JSON.stringify(await readEdge(access, soon())))
  })
}

async function printChecked(edge: EdgeCluster, output: string | undefined): Promise<void> {
  if (output === 'json') return console.log(JSON.stringify({ object: edge }))
  // YAML is a CommonJS package: the program's bundle has only its default export.
  const { default: yaml } = await import('yaml')
  console.log('# Nothing was made: this is a dry run.')
  console.log(yaml.stringify(edge).trimEnd())
}

function importOf(options: ImportOptions): EdgeCluster {
  const { name, namespace, displayName, hubServer, applyWorks, image } = options
  const { allowService: allowServices, allowDial: allowDials } = options
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name, namespace },
    spec: {
      ...(displayName === undefined ? {} : { displayName }),
      ...(hubServer === undefined ? {} : { hubServer }),
      machines: [],
      import: {
        ...(applyWorks === true ? { applyWorks } : {}),
        ...(allowServices.length === 0 ? {} : { allowServices }),
        ...(allowDials.length === 0 ? {} : { allowDials }),
        ...(image === undefined ? {} : { image }),
      },
    },
  }
}

/** Prints the manifest of an import's agent, or the command for a machine that reaches the cluster. */
export async function printJoinManifest(
  options: EdgeOptions & { command: boolean | undefined },
): Promise<void> {
  const { name, namespace, output } = options
  await toldPlainly(`read the manifest of edge cluster ${name}`, async () => {
    const access = await openEdge(options)
    await readEdge(access, soon())
    const key = { namespace, name: `${name}-join` }
    const secret = await ifThere(access.hub.resource(resources.secrets).get(key, soon()))
    const text = (field: string): string =>
      Buffer.from(secret?.data?.[field] ?? '', 'base64').toString('utf8')
    if (text('manifest') === '') {
      const why = `there is no Secret ${key.name}: the hub makes it within seconds, and deletes it once the cluster is Ready`
      throw new ExpectedError(
        `Cannot print the manifest of edge cluster ${name}: ${why}`,
        exitCodes.failure,
      )
    }
    const [manifest, command, token] = [text('manifest'), text('command'), text('token')]
    const expires = text('expires')
    if (output === 'json') console.log(JSON.stringify({ name, manifest, command, token, expires }))
    else if (options.command) console.log(`(umask 077 && echo ${token} > token) && ${command}`)
    else console.log(manifest.trimEnd())
  })
}

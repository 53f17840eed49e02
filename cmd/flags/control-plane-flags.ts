/** The words that a hub and a site share, under kube-apiserver's names. */
import type { Command } from 'commander'

/** Adds the options for the kinds that are served. */
export function withKindOptions(command: Command): Command {
  return command
    .option(
      '--runtime-config <list>',
      'APIs to switch on or off: api/beta=true, <group>/<version>[/<resource>]=true (repeatable)',
      joined,
    )
    .option(
      '--feature-gates <list>',
      'ClusterTrustBundle, PodCertificateRequest, StorageVersionMigrator: =true (repeatable)',
      joined,
    )
}

function joined(value: string, previous: string | undefined): string {
  return previous === undefined ? value : `${previous},${value}`
}

/** Adds the options for an etcd that keeps the state; `prefix` is the role's default, which no other role has. */
export function withEtcdOptions(command: Command, prefix: string): Command {
  return command
    .option(
      '--etcd-servers <urls>',
      'keep the state in this etcd; URLs separated by commas',
      toUrls,
    )
    .option('--etcd-cafile <file>', "authority of etcd, PEM (default: the system's authorities)")
    .option('--etcd-certfile <file>', 'client certificate for etcd, PEM')
    .option('--etcd-keyfile <file>', 'its key, PEM')
    .option('--etcd-prefix <path>', 'prefix of all keys', prefix)
}

/** Parses URLs that are separated by commas. */
export function toUrls(text: string): string[] {
  return text.split(',').filter((url) => url !== '')
}

/** Adds the option for spans, which an agent has as well. */
export function withTracingOptions(command: Command): Command {
  return command.option(
    '--tracing-config-file <file>',
    'TracingConfiguration: where OpenTelemetry spans are sent (default: nothing is traced)',
  )
}

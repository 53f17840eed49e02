import type { Command } from 'commander'

/** Adds them to a role, under kube-apiserver's names. */
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

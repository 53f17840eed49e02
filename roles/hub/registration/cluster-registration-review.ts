import { StatusError, type AnyObject } from '@skerry/api'
import type { ExtraAccess } from '@skerry/apiserver'
import {
  parseAllowedService,
  placeArguments,
  registrationCauses,
  registrationDefaultTtlSeconds,
  registrationOf,
  wayArguments,
  type ClusterRegistrationSpec,
} from '@skerry/fleet-kinds'
import {
  agentManifest,
  allowVirtualClusters,
  refuseVirtualName,
  type ImpersonationPolicy,
} from '@skerry/membership'
import { createClusterToken } from '../../admin/hub-join-token.ts'
import { advertised } from '../../runtime/host-addresses.ts'
import { agentImageReference } from '../../runtime/version.ts'
import type { OpenHub } from '../contract/hub-part.ts'
import { hubUser } from '../contract/hub-user.ts'
import { refuseClaimedName } from './refuse-claimed-name.ts'

/** Answers a ClusterRegistration: creates a token and returns the command for the edge. */
export function clusterRegistrationReview(
  hub: OpenHub,
  { takesInspectedTls }: { readonly takesInspectedTls: boolean },
): NonNullable<ExtraAccess['reviews']>[string] {
  const { cluster, server, pki, context } = hub
  return {
    async review({ object, isDryRun, user, signal }) {
      const { spec } = checked(object)
      if (spec.inspectedTls === true && !takesInspectedTls) throw notTaken()
      await refuseVirtualName(cluster, spec.clusterName, signal)
      // The hub itself registers the clusters that EdgeClusters import.
      if (user.name !== hubUser.name) await refuseClaimedName(cluster, spec.clusterName, signal)
      if (isDryRun) return object
      const created = await createClusterToken(
        cluster,
        {
          clusterName: spec.clusterName,
          server: spec.server ?? advertised(server.address),
          caPem: pki.authority.certificatePem,
          ttlSeconds: spec.ttlSeconds ?? registrationDefaultTtlSeconds,
          needsAcceptance: spec.needsAcceptance === true,
        },
        context,
        signal,
      )
      const parent = { cluster: spec.clusterName, isAllowed: spec.virtualClusters === true }
      await allowVirtualClusters(cluster, parent, signal)
      const { token, caHash, expiresAtMs } = created
      const status = {
        server: created.server,
        token,
        caHash,
        expires: new Date(expiresAtMs).toISOString(),
        command: agentCommand(spec, created),
        manifest: await manifestText(spec, created),
      }
      return { ...object, status }
    },
  }
}

function checked(object: AnyObject) {
  const registration = registrationOf(object)
  const causes = registrationCauses(registration)
  if (causes.length === 0) return registration
  const why = causes.map(({ field, message }) => `${field}: ${message}`).join(', ')
  throw new StatusError('Invalid', `ClusterRegistration.hub.skerry.io "" is invalid: ${why}`, {
    details: { group: 'hub.skerry.io', kind: 'ClusterRegistration', causes },
  })
}

function notTaken(): StatusError {
  const text =
    'ClusterRegistration.hub.skerry.io "" is invalid: spec.inspectedTls: this hub was started without --allow-inspected-tls'
  return new StatusError('Invalid', text)
}

interface Created {
  readonly server: string
  readonly token: string
  readonly caHash: string
}

/** Returns a shell command; values with anything but plain letters are quoted. */
function agentCommand(spec: ClusterRegistrationSpec, { server, caHash }: Created): string {
  const { users = [], groups = [], deniedGroups = [] } = policyOf(spec)
  const limits = [
    ...users.map((name) => ['--allow-user', name]),
    ...groups.map((name) => ['--allow-group', name]),
    ...deniedGroups.map((name) => ['--deny-group', name]),
    ...(spec.allowServices ?? []).map((text) => ['--allow-service', text]),
    ...(spec.allowDials ?? []).map((text) => ['--allow-dial', text]),
  ]
  const works = spec.applyWorks === true ? ' --apply-works' : ''
  const virtual = spec.virtualClusters === true ? ' --virtual-clusters' : ''
  const systems = spec.edgeApps ?? []
  const apps = systems.length > 0 ? ` --edge-apps ${quoted(systems.join(','))}` : ''
  const flags = [
    ['--hub', server],
    ['--name', spec.clusterName],
    ['--token-file', 'token'],
    ['--ca-hash', caHash],
    ...limits,
  ]
  const words = flags.map(([flag, value = '']) => `${flag} ${quoted(value)}`)
  const place = placeArguments(spec).map((word) => ` ${quoted(word)}`)
  const way = wayArguments(spec).map((word) => ` ${word}`)
  return `skerry agent ${words.join(' ')}${works}${virtual}${apps}${place.join('')}${way.join('')}`
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

async function manifestText(spec: ClusterRegistrationSpec, created: Created): Promise<string> {
  // YAML is a CommonJS package: the program's bundle has only its default export.
  const { default: yaml } = await import('yaml')
  const objects = agentManifest({
    cluster: spec.clusterName,
    server: created.server,
    caHash: created.caHash,
    token: created.token,
    image: spec.image ?? agentImageReference,
    policy: policyOf(spec),
    appliesWorks: spec.applyWorks === true,
    edgeApps: spec.edgeApps ?? [],
    hasVirtualClusters: spec.virtualClusters === true,
    way: spec,
    place: spec,
    services: (spec.allowServices ?? []).flatMap((text) => parseAllowedService(text) ?? []),
    hub: { dials: spec.allowDials ?? [], mayRemove: spec.hubMayRemove === true },
  })
  const options = { aliasDuplicateObjects: false, lineWidth: 0 }
  return objects.map((object) => yaml.stringify(object, options)).join('---\n')
}

/** Returns the policy. A hub's administrators are not a cluster's, unless its operator allows it. */
function policyOf({ allowUsers, allowGroups, allowMasters }: ClusterRegistrationSpec) {
  const policy: ImpersonationPolicy = {
    ...(allowUsers?.length ? { users: allowUsers } : {}),
    ...(allowGroups?.length ? { groups: allowGroups } : {}),
    ...(allowMasters === true ? {} : { deniedGroups: ['system:masters'] }),
  }
  return policy
}

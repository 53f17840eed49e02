import type { Pod } from '@skerry/api'
import { specOf } from '../pod/pod-spec.ts'
import { kubeletBounds } from '../limits-table.ts'

const { hostnameCharactersMax } = kubeletBounds.hostsFile

/** The pod's own name for itself, as its processes see it. */
export function podHostname(pod: Pod): string {
  const { hostname, hostnameOverride } = specOf(pod)
  const name = hostnameOverride ?? hostname ?? pod.metadata.name ?? ''
  return hostnameOverride ? name : name.slice(0, hostnameCharactersMax).replace(/[-.]+$/, '')
}

/** Returns an empty string without a subdomain. */
export function podDomain(pod: Pod, clusterDomain: string): string {
  const { subdomain } = specOf(pod)
  return subdomain ? `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}` : ''
}

/** A pod on the host's network gets the host's own file, with its aliases added. */
export function hostsFile(
  pod: Pod,
  options: { podIps: readonly string[]; clusterDomain: string; hostFile: string },
): string {
  const spec = specOf(pod)
  const lines = spec.hostNetwork ? options.hostFile.trimEnd().split('\n') : podLines(pod, options)
  const aliases = (spec.hostAliases ?? []).map(
    ({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}`,
  )
  const added = aliases.length > 0 ? ['', '# Entries added by HostAliases.', ...aliases] : []
  return `${[...lines, ...added].join('\n')}\n`
}

function podLines(
  pod: Pod,
  { podIps, clusterDomain }: { podIps: readonly string[]; clusterDomain: string },
): string[] {
  const hostname = podHostname(pod)
  const domain = podDomain(pod, clusterDomain)
  return [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::\tip6-localnet',
    'fe00::\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    ...podIps.map((ip) =>
      domain ? `${ip}\t${hostname}.${domain}\t${hostname}` : `${ip}\t${hostname}`,
    ),
  ]
}

import type { Pod } from '@skerry/api'
import type { DnsConfig } from '../cri/container-runtime.ts'
import { specOf } from '../pod/pod-spec.ts'
import { dnsLimits } from '../limits-table.ts'

export interface ClusterDns {
  /** An empty list means that the cluster has no DNS, and pods use the host's. */
  servers: readonly string[]
  domain: string
}

/** Returns the content of a pod's /etc/resolv.conf, by its dnsPolicy and dnsConfig. */
export function podDns(pod: Pod, cluster: ClusterDns, host: DnsConfig): DnsConfig {
  const spec = specOf(pod)
  const { dnsPolicy = 'ClusterFirst', hostNetwork, dnsConfig } = spec
  const asksCluster =
    dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork)
  const base =
    dnsPolicy === 'None'
      ? { servers: [], searches: [], options: [] }
      : asksCluster && cluster.servers.length > 0
        ? clusterDns(pod, cluster, host)
        : host
  const options = (dnsConfig?.options ?? []).map(({ name = '', value }) =>
    value === undefined ? name : `${name}:${value}`,
  )
  return limited({
    servers: unique([...base.servers, ...(dnsConfig?.nameservers ?? [])]),
    searches: unique([...base.searches, ...(dnsConfig?.searches ?? [])]),
    options: mergeOptions(base.options, options),
  })
}

function clusterDns(pod: Pod, { servers, domain }: ClusterDns, host: DnsConfig): DnsConfig {
  const namespace = pod.metadata.namespace ?? ''
  return {
    servers: [...servers],
    searches: unique([
      `${namespace}.svc.${domain}`,
      `svc.${domain}`,
      domain,
      ...host.searches.filter((search) => search !== '.'),
    ]),
    options: ['ndots:5'],
  }
}

function limited(dns: DnsConfig): DnsConfig {
  const searches = dns.searches.slice(0, dnsLimits.searchesMax)
  while (searches.join(' ').length > dnsLimits.searchCharactersMax) searches.pop()
  return { ...dns, servers: dns.servers.slice(0, dnsLimits.serversMax), searches }
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}

function mergeOptions(base: readonly string[], own: readonly string[]): string[] {
  const name = (option: string): string => option.split(':')[0] ?? ''
  const kept = base.filter((option) => !own.some((other) => name(other) === name(option)))
  return [...kept, ...own]
}

/** Parses resolv.conf(5); unknown lines are left out. */
export function parseResolvConf(text: string): DnsConfig {
  const dns: DnsConfig = { servers: [], searches: [], options: [] }
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/)
    if (keyword === 'nameserver' && values[0]) dns.servers.push(values[0])
    if (keyword === 'search' || keyword === 'domain') dns.searches = values
    if (keyword === 'options') dns.options = values
  }
  return dns
}

import {
  checkPortName,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type IPBlock,
  type NetworkPolicy,
  type NetworkPolicyPeer,
  type NetworkPolicyPort,
  type StatusCause,
} from '@skerry/api'
import { addInvalid, checkNotEmpty, checkOneOf, checkPortNumber, type Found } from '../checks.ts'
import { checkCidr, isWithin, cidrOf } from '../ip-text.ts'
import { checkLabelSelector } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'

const types = ['Ingress', 'Egress']

export function validateNetworkPolicy(policy: LooseObject<NetworkPolicy>): StatusCause[] {
  const found: Found = []
  const { podSelector, ingress = [], egress = [], policyTypes = [] } = policy.spec ?? {}
  checkLabelSelector(podSelector, 'spec.podSelector', found)
  for (const [at, rule] of ingress.entries()) {
    checkRule({ ports: rule.ports, peers: rule.from, name: 'from' }, `spec.ingress[${at}]`, found)
  }
  for (const [at, rule] of egress.entries()) {
    checkRule({ ports: rule.ports, peers: rule.to, name: 'to' }, `spec.egress[${at}]`, found)
  }
  if (policyTypes.length > types.length) {
    const detail = 'may not specify more than two policyTypes'
    found.push(fieldInvalid('spec.policyTypes', policyTypes, detail))
    return found
  }
  for (const [at, type] of policyTypes.entries()) {
    if (!types.includes(type)) {
      found.push(fieldNotSupported(`spec.policyTypes[${at}]`, type, types))
    }
  }
  return found
}

interface Rule {
  ports: Loose<NetworkPolicyPort>[] | undefined
  peers: Loose<NetworkPolicyPeer>[] | undefined
  name: 'from' | 'to'
}

function checkRule(rule: Rule, path: string, found: Found): void {
  for (const [at, port] of (rule.ports ?? []).entries()) {
    checkPolicyPort(port, `${path}.ports[${at}]`, found)
  }
  for (const [at, peer] of (rule.peers ?? []).entries()) {
    checkPeer(peer, `${path}.${rule.name}[${at}]`, found)
  }
}

function checkPolicyPort(port: Loose<NetworkPolicyPort>, path: string, found: Found): void {
  const { port: value, endPort } = port
  checkOneOf(port.protocol, ['TCP', 'UDP', 'SCTP'], `${path}.protocol`, found)
  if (typeof value === 'number') {
    checkPortNumber(value, `${path}.port`, found)
    if (endPort === undefined) return
    if (endPort < value) {
      const detail = 'must be greater than or equal to `port`'
      found.push(fieldInvalid(`${path}.endPort`, value, detail))
    }
    checkPortNumber(endPort, `${path}.endPort`, found)
    return
  }
  if (endPort !== undefined) {
    const what = value === undefined ? 'not specified' : 'non-numeric'
    const detail = `may not be specified when \`port\` is ${what}`
    found.push(fieldInvalid(`${path}.endPort`, endPort, detail))
  }
  if (value !== undefined) addInvalid(found, `${path}.port`, value, checkPortName(value))
}

function checkPeer(peer: Loose<NetworkPolicyPeer>, path: string, found: Found): void {
  const { podSelector, namespaceSelector, ipBlock } = peer
  checkLabelSelector(podSelector, `${path}.podSelector`, found)
  checkLabelSelector(namespaceSelector, `${path}.namespaceSelector`, found)
  if (ipBlock) checkIpBlock(ipBlock, `${path}.ipBlock`, found)
  if (!podSelector && !namespaceSelector && !ipBlock) {
    found.push(fieldRequired(path, 'must specify a peer'))
  } else if (ipBlock && (podSelector || namespaceSelector)) {
    found.push(fieldForbidden(path, 'may not specify both ipBlock and another peer'))
  }
}

function checkIpBlock(block: Loose<IPBlock>, path: string, found: Found): void {
  const { cidr = '', except = [] } = block
  if (!checkNotEmpty(cidr, `${path}.cidr`, found) || !checkCidr(cidr, `${path}.cidr`, found)) return
  const outer = cidrOf(cidr)
  for (const [at, text] of except.entries()) {
    const field = `${path}.except[${at}]`
    if (!checkCidr(text, field, found)) continue
    const inner = cidrOf(text)
    if (outer && inner && isWithin(inner, outer)) continue
    found.push(fieldInvalid(field, text, 'must be a strict subset of `cidr`'))
  }
}

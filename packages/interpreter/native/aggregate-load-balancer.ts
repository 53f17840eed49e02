import type { JsonObject } from '@skerry/api'
import type { AggregatedStatusItem } from '@skerry/karmada-kinds'
import { countAt, objectsAt, textAt } from '@skerry/fleet-kinds'

/** The addresses of all clusters, each once with all its ports; names come before addresses. */
export function aggregatedIngresses(items: readonly AggregatedStatusItem[]): JsonObject {
  const byAddress = new Map<string, JsonObject>()
  for (const { status } of items) {
    for (const ingress of objectsAt(status, 'loadBalancer', 'ingress')) {
      const key = ['hostname', 'ip', 'ipMode'].map((field) => textAt(ingress, field)).join('/')
      byAddress.set(key, withPortsOf(ingress, byAddress.get(key)))
    }
  }
  const ingresses = [...byAddress.values()].toSorted(compareIngresses)
  return { loadBalancer: ingresses.length > 0 ? { ingress: ingresses } : {} }
}

function withPortsOf(ingress: JsonObject, known: JsonObject | undefined): JsonObject {
  const { ports: _ports, ...rest } = ingress
  const byText = new Map(
    [...objectsAt(known, 'ports'), ...objectsAt(ingress, 'ports')].map((port) => [
      [countAt(port, 'port'), textAt(port, 'protocol'), textAt(port, 'error')].join('/'),
      port,
    ]),
  )
  const ports = [...byText.values()].toSorted(
    (a, b) =>
      countAt(a, 'port') - countAt(b, 'port') ||
      compareText(textAt(a, 'protocol'), textAt(b, 'protocol')) ||
      compareText(textAt(a, 'error'), textAt(b, 'error')),
  )
  return { ...rest, ...(ports.length > 0 ? { ports } : {}) }
}

function compareIngresses(a: JsonObject, b: JsonObject): number {
  const [first, second] = [textAt(a, 'hostname'), textAt(b, 'hostname')]
  if (first !== second) {
    if (first === '' || second === '') return first === '' ? 1 : -1
    return compareText(first, second)
  }
  return (
    compareText(textAt(a, 'ip'), textAt(b, 'ip')) ||
    compareText(textAt(a, 'ipMode'), textAt(b, 'ipMode'))
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

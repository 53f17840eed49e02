import { canonicalQuantity, isJsonObject, type JsonObject } from '@skerry/api'

/**
 * Converts metrics of autoscaling/v2 to the form in which autoscaling/v1 writes them into
 * annotations, and back. In that form a source's fields are flat, in the order of upstream's type.
 */
export function metricToVersion1(metric: JsonObject): JsonObject {
  return convert(metric, sourcesToVersion1)
}

export function metricToVersion2(metric: JsonObject): JsonObject {
  return convert(metric, sourcesToVersion2)
}

export function metricStatusToVersion1(metric: JsonObject): JsonObject {
  return convert(metric, statusesToVersion1)
}

export function metricStatusToVersion2(metric: JsonObject): JsonObject {
  return convert(metric, statusesToVersion2)
}

type Sources = Readonly<Record<string, (source: JsonObject) => JsonObject>>

function convert(metric: JsonObject, sources: Sources): JsonObject {
  const { type } = metric
  const result: JsonObject = { type: type ?? '' }
  for (const [name, change] of Object.entries(sources)) {
    const source = metric[name]
    if (isJsonObject(source)) result[name] = withoutAbsent(change(source))
  }
  return result
}

const sourcesToVersion1: Sources = {
  object: ({ describedObject, metric, target }) => ({
    target: reference(describedObject),
    metricName: nameOf(metric),
    targetValue: amount(target, 'value') ?? '0',
    selector: selectorOf(metric),
    averageValue: amount(target, 'averageValue'),
  }),
  pods: ({ metric, target }) => ({
    metricName: nameOf(metric),
    targetAverageValue: amount(target, 'averageValue') ?? '0',
    selector: selectorOf(metric),
  }),
  resource: ({ name, target }) => ({ name, ...averagesToVersion1(target) }),
  containerResource: ({ name, container, target }) => ({
    name,
    ...averagesToVersion1(target),
    container: container ?? '',
  }),
  external: ({ metric, target }) => ({
    metricName: nameOf(metric),
    metricSelector: selectorOf(metric),
    targetValue: amount(target, 'value'),
    targetAverageValue: amount(target, 'averageValue'),
  }),
}

const sourcesToVersion2: Sources = {
  object: (source) => {
    const value = amount(source, 'targetValue') ?? '0'
    const averageValue = amount(source, 'averageValue')
    const target =
      averageValue === undefined
        ? { type: 'Value', value }
        : { type: 'AverageValue', averageValue, ...(value === '0' ? {} : { value }) }
    return { describedObject: reference(source['target']), metric: metricOf(source), target }
  },
  pods: (source) => ({
    metric: metricOf(source),
    target: { type: 'AverageValue', averageValue: amount(source, 'targetAverageValue') ?? '0' },
  }),
  resource: (source) => ({ name: source['name'], target: averagesToVersion2(source) }),
  containerResource: (source) => ({
    name: source['name'],
    container: source['container'],
    target: averagesToVersion2(source),
  }),
  external: (source) => {
    const value = amount(source, 'targetValue')
    return {
      metric: metricOf(source),
      target: withoutAbsent({
        type: value === undefined ? 'AverageValue' : 'Value',
        value,
        averageValue: amount(source, 'targetAverageValue'),
      }),
    }
  },
}

const statusesToVersion1: Sources = {
  object: ({ describedObject, metric, current }) => ({
    target: reference(describedObject),
    metricName: nameOf(metric),
    currentValue: amount(current, 'value') ?? '0',
    selector: selectorOf(metric),
    averageValue: amount(current, 'averageValue'),
  }),
  pods: ({ metric, current }) => ({
    metricName: nameOf(metric),
    currentAverageValue: amount(current, 'averageValue') ?? '0',
    selector: selectorOf(metric),
  }),
  resource: ({ name, current }) => ({ name, ...currentToVersion1(current) }),
  containerResource: ({ name, container, current }) => ({
    name,
    ...currentToVersion1(current),
    container: container ?? '',
  }),
  external: ({ metric, current }) => ({
    metricName: nameOf(metric),
    metricSelector: selectorOf(metric),
    currentValue: amount(current, 'value') ?? '0',
    currentAverageValue: amount(current, 'averageValue'),
  }),
}

const statusesToVersion2: Sources = {
  object: (source) => ({
    describedObject: reference(source['target']),
    metric: metricOf(source),
    current: withoutAbsent({
      value: amount(source, 'currentValue') ?? '0',
      averageValue: amount(source, 'averageValue'),
    }),
  }),
  pods: (source) => ({
    metric: metricOf(source),
    current: { averageValue: amount(source, 'currentAverageValue') ?? '0' },
  }),
  resource: (source) => ({ name: source['name'], current: currentToVersion2(source) }),
  containerResource: (source) => ({
    name: source['name'],
    container: source['container'],
    current: currentToVersion2(source),
  }),
  external: (source) => ({
    metric: metricOf(source),
    current: withoutAbsent({
      value: amount(source, 'currentValue') ?? '0',
      averageValue: amount(source, 'currentAverageValue'),
    }),
  }),
}

function averagesToVersion1(target: unknown): JsonObject {
  return {
    targetAverageUtilization: memberIn(target, 'averageUtilization'),
    targetAverageValue: amount(target, 'averageValue'),
  }
}

function averagesToVersion2(source: JsonObject): JsonObject {
  const averageUtilization = source['targetAverageUtilization']
  return withoutAbsent({
    type: isAbsent(averageUtilization) ? 'AverageValue' : 'Utilization',
    averageUtilization,
    averageValue: amount(source, 'targetAverageValue'),
  })
}

function currentToVersion1(current: unknown): JsonObject {
  return {
    currentAverageUtilization: memberIn(current, 'averageUtilization'),
    currentAverageValue: amount(current, 'averageValue') ?? '0',
  }
}

function currentToVersion2(source: JsonObject): JsonObject {
  return withoutAbsent({
    averageUtilization: source['currentAverageUtilization'],
    averageValue: amount(source, 'currentAverageValue') ?? '0',
  })
}

function reference(value: unknown): JsonObject {
  const { kind = '', name = '', apiVersion } = isJsonObject(value) ? value : {}
  return withoutAbsent({ kind, name, apiVersion: apiVersion || undefined })
}

/** Returns the metric from v1's metricName and, for external metrics, metricSelector. */
function metricOf(source: JsonObject): JsonObject {
  const { metricName = '', selector, metricSelector } = source
  return withoutAbsent({ name: metricName, selector: selector ?? metricSelector })
}

function nameOf(metric: unknown): unknown {
  return memberIn(metric, 'name') ?? ''
}

function selectorOf(metric: unknown): unknown {
  const selector = memberIn(metric, 'selector')
  if (!isJsonObject(selector)) return undefined
  const { matchLabels, matchExpressions } = selector
  return withoutAbsent({ matchLabels, matchExpressions })
}

/** Throws QuantityError if the value is not a quantity. */
function amount(value: unknown, key: string): string | undefined {
  const found = memberIn(value, key)
  if (isAbsent(found)) return undefined
  return canonicalQuantity(typeof found === 'string' ? found : JSON.stringify(found))
}

function memberIn(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined
}

function withoutAbsent(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isAbsent(value)))
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

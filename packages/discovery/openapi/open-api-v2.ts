import { definitionsOf, type OpenApiInput } from './definitions.ts'
import { referenceTo, type OpenApiObject } from './open-api-schema.ts'
import { pathsOf, type Operation, type PathEntry } from './operations.ts'
import { parameters } from './parameter-table.ts'

/**
 * Answers GET /openapi/v2: one document of all kinds, for clients older than kubectl 1.27. Each
 * call builds it again, so keep the encoded bytes, not the object.
 */
export function openApiV2Document(input: OpenApiInput): OpenApiObject {
  const paths = pathsOf(input.kinds)
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: Object.fromEntries(paths.map((entry) => [entry.path, pathItem(entry)])),
    definitions: definitionsOf(input, { kinds: input.kinds, paths, dialect: 'v2' }),
    securityDefinitions: {
      BearerToken: {
        description: 'Bearer Token authentication',
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
      },
    },
    security: [{ BearerToken: [] }],
  }
}

function pathItem(entry: PathEntry): OpenApiObject {
  const item: OpenApiObject = {}
  for (const operation of entry.operations)
    item[operation.method] = swaggerOperation(operation, entry.tag)
  item['parameters'] = entry.parameters.map(swaggerParameter)
  return item
}

function swaggerOperation(operation: Operation, tag: string): OpenApiObject {
  const { body } = operation
  const list = operation.parameters.map(swaggerParameter)
  if (body !== undefined) {
    const required = operation.method === 'delete' ? {} : { required: true }
    const parameter = { name: 'body', in: 'body', ...required, schema: referenceTo(body, 'v2') }
    // The body is inserted by name, in the order of the others.
    list.splice(operation.parameters.filter((name) => name < 'body').length, 0, parameter)
  }
  return {
    description: operation.description,
    consumes: operation.consumes,
    produces: operation.produces,
    schemes: ['https'],
    tags: [tag],
    operationId: operation.id,
    ...(list.length > 0 ? { parameters: list } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([code, definition]) => [
          code,
          swaggerAnswer(Number(code), definition),
        ]),
      ),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.kind,
  }
}

const answerWords: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

function swaggerAnswer(code: number, definition: string | undefined): OpenApiObject {
  const schema = definition === undefined ? { type: 'string' } : referenceTo(definition, 'v2')
  return { description: answerWords[code] ?? '', schema }
}

function swaggerParameter(name: string): OpenApiObject {
  const parameter = parameters[name]
  if (!parameter) throw new RangeError(`Cannot describe parameter: ${name} is not known`)
  const { in: place, type, description } = parameter
  const required = place === 'path' ? { required: true } : {}
  return { uniqueItems: true, type, description, name, in: place, ...required }
}

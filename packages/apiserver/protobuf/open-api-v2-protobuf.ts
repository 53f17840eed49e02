import { ProtoMessage } from './proto-message.ts'

type OpenApiObject = Readonly<Record<string, unknown>>

/** The Content-Type of the protobuf form. */
export const openApiV2ProtobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/**
 * Returns true if an Accept header names the protobuf form, in the current spelling or that of old
 * kubectls.
 */
export function acceptsOpenApiV2Protobuf(accept: string): boolean {
  return /application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf/.test(accept)
}

/**
 * Encodes the document of openApiV2Document in gnostic's protobuf form (openapi.v2.Document, field
 * numbers of gnostic-models' OpenAPIv2.proto), which kubectl requests up to 1.26.
 */
export function encodeOpenApiV2Document(document: OpenApiObject): Uint8Array {
  return new ProtoMessage()
    .text(1, document['swagger'])
    .message(2, infoMessage(record(document['info'])))
    .message(8, new ProtoMessage().messages(2, named(document['paths'], pathItemMessage)))
    .message(9, new ProtoMessage().messages(1, named(document['definitions'], schemaMessage)))
    .messages(12, list(document['security']).map(requirementMessage))
    .message(
      13,
      new ProtoMessage().messages(1, named(document['securityDefinitions'], securityMessage)),
    )
    .encode()
}

/** Writes the entries of a map: name and value, each a message. */
function named(value: unknown, make: (value: OpenApiObject) => ProtoMessage): ProtoMessage[] {
  return Object.entries(record(value)).map(([name, member]) =>
    new ProtoMessage().text(1, name).message(2, make(record(member))),
  )
}

function infoMessage(info: OpenApiObject): ProtoMessage {
  return new ProtoMessage().text(1, info['title']).text(2, info['version'])
}

const pathItemFields: readonly (readonly [number, string])[] = [
  [2, 'get'],
  [3, 'put'],
  [4, 'post'],
  [5, 'delete'],
  [8, 'patch'],
]

function pathItemMessage(item: OpenApiObject): ProtoMessage {
  const writer = new ProtoMessage()
  for (const [field, method] of pathItemFields) {
    if (item[method] !== undefined) writer.message(field, operationMessage(record(item[method])))
  }
  return writer.messages(9, list(item['parameters']).map(parameterItemMessage))
}

function operationMessage(operation: OpenApiObject): ProtoMessage {
  const responses = new ProtoMessage().messages(1, named(operation['responses'], responseMessage))
  return new ProtoMessage()
    .texts(1, operation['tags'])
    .text(3, operation['description'])
    .text(5, operation['operationId'])
    .texts(6, operation['produces'])
    .texts(7, operation['consumes'])
    .messages(8, list(operation['parameters']).map(parameterItemMessage))
    .message(9, responses)
    .texts(10, operation['schemes'])
    .messages(13, extensionMessages(operation))
}

function responseMessage(response: OpenApiObject): ProtoMessage {
  const { schema } = response
  const message = new ProtoMessage().text(1, response['description'])
  if (schema !== undefined) {
    message.message(2, new ProtoMessage().message(1, schemaMessage(record(schema))))
  }
  return new ProtoMessage().message(1, message)
}

/** ParametersItem > Parameter > body, or non-body > query or path. */
function parameterItemMessage(parameter: OpenApiObject): ProtoMessage {
  return new ProtoMessage().message(1, parameterMessage(parameter))
}

function parameterMessage(parameter: OpenApiObject): ProtoMessage {
  if (parameter['in'] === 'body') {
    const body = new ProtoMessage()
      .text(1, parameter['description'])
      .text(2, parameter['name'])
      .text(3, parameter['in'])
      .flag(4, parameter['required'])
      .message(5, schemaMessage(record(parameter['schema'])))
    return new ProtoMessage().message(1, body)
  }
  const isPath = parameter['in'] === 'path'
  const typeField = isPath ? 5 : 6
  const value = new ProtoMessage()
    .flag(1, parameter['required'])
    .text(2, parameter['in'])
    .text(3, parameter['description'])
    .text(4, parameter['name'])
    .text(typeField, parameter['type'])
    .flag(isPath ? 19 : 20, parameter['uniqueItems'])
  return new ProtoMessage().message(2, new ProtoMessage().message(isPath ? 4 : 3, value))
}

function schemaMessage(schema: OpenApiObject): ProtoMessage {
  const writer = new ProtoMessage()
    .text(1, schema['$ref'])
    .text(2, schema['format'])
    .text(3, schema['title'])
    .text(4, schema['description'])
    .double(6, schema['multipleOf'])
    .double(7, schema['maximum'])
    .flag(8, schema['exclusiveMaximum'])
    .double(9, schema['minimum'])
    .flag(10, schema['exclusiveMinimum'])
    .integer(11, schema['maxLength'])
    .integer(12, schema['minLength'])
    .text(13, schema['pattern'])
    .integer(14, schema['maxItems'])
    .integer(15, schema['minItems'])
    .flag(16, schema['uniqueItems'])
    .integer(17, schema['maxProperties'])
    .integer(18, schema['minProperties'])
    .texts(19, schema['required'])
    .messages(20, list(schema['enum']).map(anyMessage))
  addNestedSchemas(writer, schema)
  return writer.messages(31, extensionMessages(schema))
}

function addNestedSchemas(writer: ProtoMessage, schema: OpenApiObject): void {
  const { additionalProperties, type, items, properties } = schema
  if (typeof additionalProperties === 'boolean') {
    writer.message(21, new ProtoMessage().flag(2, additionalProperties))
  } else if (additionalProperties !== undefined) {
    writer.message(21, new ProtoMessage().message(1, schemaMessage(record(additionalProperties))))
  }
  if (typeof type === 'string') writer.message(22, new ProtoMessage().text(1, type))
  if (items !== undefined) {
    writer.message(23, new ProtoMessage().message(1, schemaMessage(record(items))))
  }
  if (properties !== undefined) {
    writer.message(25, new ProtoMessage().messages(1, named(properties, schemaMessage)))
  }
}

/** Extensions contain YAML text, and JSON is valid YAML. */
function extensionMessages(object: OpenApiObject): ProtoMessage[] {
  return Object.entries(object)
    .filter(([name]) => name.startsWith('x-'))
    .map(([name, value]) => new ProtoMessage().text(1, name).message(2, anyMessage(value)))
}

function anyMessage(value: unknown): ProtoMessage {
  return new ProtoMessage().text(2, `${JSON.stringify(value)}\n`)
}

function requirementMessage(requirement: OpenApiObject): ProtoMessage {
  return new ProtoMessage().messages(
    1,
    Object.entries(requirement).map(([name, scopes]) =>
      new ProtoMessage().text(1, name).message(2, new ProtoMessage().texts(1, scopes)),
    ),
  )
}

/** SecurityDefinitionsItem > ApiKeySecurity. */
function securityMessage(security: OpenApiObject): ProtoMessage {
  const key = new ProtoMessage()
    .text(1, security['type'])
    .text(2, security['name'])
    .text(3, security['in'])
    .text(4, security['description'])
  return new ProtoMessage().message(2, key)
}

function record(value: unknown): OpenApiObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {}
}

function list(value: unknown): OpenApiObject[] {
  return Array.isArray(value) ? value : []
}

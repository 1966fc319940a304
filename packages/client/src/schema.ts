/** The contract's types. In the package they are the generated file itself (scripts/build-client.ts). */
export type * from '../../../openapi/generated/schema.ts'

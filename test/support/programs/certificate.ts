import { join } from 'node:path'
import { runPart } from './system-parts.ts'

/** Creates a self-signed certificate for 127.0.0.1 and one day. Returns its file. */
export function certificate(folder: string): string {
  const file = join(folder, 'cert.pem')
  runPart('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
    ...['-keyout', join(folder, 'key.pem'), '-out', file],
  ])
  return file
}

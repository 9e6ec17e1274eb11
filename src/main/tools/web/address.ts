// Which addresses a page may be fetched from: public ones only. A name that leads to this computer or to its network is refused, whatever it is
// called, and the address that was checked is the one that is connected to, so that a second look-up cannot change the answer.
import { lookup as systemLookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

const blocked = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4]
] as const)
  blocked.addSubnet(net, bits, 'ipv4')
// of IPv6 only what is assigned as public is let through, less the ranges that carry other addresses inside
const open = new BlockList()
open.addSubnet('2000::', 3, 'ipv6')
for (const [net, bits] of [
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20]
] as const)
  blocked.addSubnet(net, bits, 'ipv6')

/** Whether an IP address (without brackets) is a public one. What is no address is not. */
function isPublic(address: string): boolean {
  const plain = address.split('%')[0] ?? ''
  const version = isIP(plain)
  if (version === 4) return !blocked.check(plain, 'ipv4')
  return version === 6 && open.check(plain, 'ipv6') && !blocked.check(plain, 'ipv6')
}

export interface Address {
  readonly address: string
  readonly family: number
}
/** Addresses of a host; throws when there are none, with the code EPRIVATE when any of them is not public. */
export async function publicAddresses(host: string): Promise<Address[]> {
  const bare = host.replace(/^\[|\]$/g, '')
  const found = isIP(bare) ? [{ address: bare, family: isIP(bare) }] : await systemLookup(bare, { all: true, order: 'verbatim' })
  if (found.length === 0 || found.some((a) => !isPublic(a.address)))
    throw Object.assign(new Error(`${host} is an address of this computer or of its own network`), { code: 'EPRIVATE' })
  return found
}

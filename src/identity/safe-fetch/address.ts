import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.parse>

// What the registries call ordinary, and what is none: the platform address of Azure, and IPv4-compatible IPv6 (RFC 4291
// §2.5.5.1, deprecated), which some stacks still take for the IPv4 host.
const NOT_PUBLIC = ['168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32', 'fd00:ec2::254/128', '::/96']
const subnets = NOT_PUBLIC.map((cidr) => ipaddr.parseCIDR(cidr))

/** May anybody have this address? Loopback, private, link-local, reserved and tunnelled ones are not public, whatever their spelling. */
export function isPublic(text: string): boolean {
  const address = parse(text)
  return address !== undefined && address.range() === 'unicast' && !subnets.some((subnet) => within(address, subnet))
}

export function isLoopback(text: string): boolean {
  return parse(text)?.range() === 'loopback'
}

/** Where clouds keep the credentials of a machine: nobody is sent there, not by the operator either. */
export function isLinkLocal(text: string): boolean {
  return parse(text)?.range() === 'linkLocal'
}

/**
 * The address that is reached in the end: IPv4 in the guise of IPv6, mapped (RFC 4291 §2.5.5.2) or behind NAT64 (RFC 6052, its
 * well-known prefix), is IPv4. 6to4 and Teredo stay what they are, and are not public: nobody needs them any more.
 */
function parse(text: string): Address | undefined {
  if (!ipaddr.isValid(text)) return undefined
  const address = ipaddr.parse(text)
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  const bytes = address.toByteArray()
  const wellKnown = bytes.slice(0, 12).join() === '0,100,255,155,0,0,0,0,0,0,0,0'
  return wellKnown ? ipaddr.fromByteArray(bytes.slice(12)) : address
}

function within(address: Address, [net, bits]: (typeof subnets)[number]): boolean {
  if (address instanceof ipaddr.IPv4) return net instanceof ipaddr.IPv4 && address.match(net, bits)
  return net instanceof ipaddr.IPv6 && address.match(net, bits)
}

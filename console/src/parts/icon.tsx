/** An icon from the paths of its drawing. The build calls it for every icon of icons.ts. */
import type { SVGProps } from 'react';

/** `size`: in pixels; `stroke`: the width of lines, on a grid of 24. */
export interface IconProps extends Omit<SVGProps<SVGSVGElement>, 'stroke'> {
  readonly size?: number;
  readonly stroke?: number;
}

/** Creates the component of an icon. `body`: its paths as SVG, which inherit colour and width. */
export function icon(body: string) {
  const html = { __html: body };
  return function Icon({ size = 24, stroke = 2, ...others }: IconProps) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={stroke}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden
        // biome-ignore lint/security/noDangerouslySetInnerHtml: a constant of the build, not data
        dangerouslySetInnerHTML={html}
        {...others}
      />
    );
  };
}

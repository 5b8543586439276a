#!/bin/sh
# @NAME@: the @LANGUAGE@ compiler with what a program of MPI needs. Part of Motet @VERSION@.
#
# Everything is found from where this script lies, so that the whole folder can be moved. Variables
# begin with motet_, so that those of the user reach the compiler as they are.

motet_here=$(dirname -- "$(readlink -f -- "$0")")
motet_prefix=$(cd -- "$motet_here/.." && pwd) || exit 1
# By its own name where it is there, since build systems look for that in what it says of itself.
motet_compiler=@COMPILER@
command -v @GNU@ >/dev/null && motet_compiler=@GNU@
motet_compiler=${@VARIABLE@:-$motet_compiler}

# Says words as a shell would have to be given them.
say() {
  motet_line=
  for motet_word do
    case $motet_word in
      *[!A-Za-z0-9_./:=,+@%-]*) motet_word="'$(printf %s "$motet_word" | sed "s/'/'\\\\''/g")'" ;;
    esac
    motet_line="$motet_line${motet_line:+ }$motet_word"
  done
  printf '%s\n' "$motet_line"
}

motet_show=no motet_link=yes motet_inputs=no
for motet_word do
  shift
  case $motet_word in
    -?*) ;;
    *) motet_inputs=yes ;;
  esac
  case $motet_word in
    -show | --show | -showme | --showme) motet_show=yes ;;
    -showme:compile | --showme:compile | -compile-info | -compile_info) motet_show=compile ;;
    -showme:link | --showme:link | -link-info | -link_info) motet_show=link ;;
    -showme:command | --showme:command) motet_show=command ;;
    -showme:incdirs | --showme:incdirs) motet_show=incdirs ;;
    -showme:libdirs | --showme:libdirs) motet_show=libdirs ;;
    -showme:libs | --showme:libs) motet_show=libs ;;
    -showme:version | --showme:version) motet_show=version ;;
    -cc=* | -cxx=*) motet_compiler=${motet_word#*=} ;;
    -c | -S | -E | -M | -MM | -fsyntax-only) motet_link=no; set -- "$@" "$motet_word" ;;
    *) set -- "$@" "$motet_word" ;;
  esac
done

case $motet_show in
  no | yes) ;;
  compile) say "-I$motet_prefix/include"; exit ;;
  link) say "-L$motet_prefix/lib" "-Wl,-rpath,$motet_prefix/lib" -Wl,--enable-new-dtags -lmpi_abi; exit ;;
  command) echo "$motet_compiler"; exit ;;
  incdirs) echo "$motet_prefix/include"; exit ;;
  libdirs) echo "$motet_prefix/lib"; exit ;;
  libs) echo mpi_abi; exit ;;
  version) echo 'Motet @VERSION@ (@NAME@)'; exit ;;
esac

# What asks the compiler about itself, as -v does, links nothing.
if [ "$motet_link" = yes ] && [ "$motet_show$motet_inputs" != nono ]; then
  set -- "-I$motet_prefix/include" "$@" "-L$motet_prefix/lib" "-Wl,-rpath,$motet_prefix/lib" \
    -Wl,--enable-new-dtags -lmpi_abi
else
  set -- "-I$motet_prefix/include" "$@"
fi
if [ "$motet_show" = yes ]; then
  echo "$motet_compiler $(say "$@")"
  exit
fi
exec $motet_compiler "$@"
